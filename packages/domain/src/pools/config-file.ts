import { z } from 'zod';
import { misplacedInFile, withoutRefused } from './misplaced-keys.ts';
import { checkedTogether, refuseUntrusted } from './check-together.ts';
import { keysOfPools } from './pool.ts';
import { poolsSections } from './pools-document.ts';

/** The place of a secret. The file never holds the secret. */
export const secretSource = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  'must be { env: NAME } or { file: PATH }',
);

const githubApp = z.strictObject({
  id: z.int().positive().describe('The App ID of its settings page.'),
  webhookSecret: secretSource
    .optional()
    .describe('Needed by the ingress. No two Apps may share one.'),
  previousWebhookSecret: secretSource
    .optional()
    .describe('Still accepted while a secret is being replaced.'),
  privateKey: secretSource
    .optional()
    .describe('A PEM file; needed by the scheduler and the reconciler.'),
});

const githubKeys = z.strictObject({
  apiUrl: z
    .url({ abort: true, error: 'must be an address such as https://github.example.com/api/v3' })
    .default('https://api.github.com')
    .describe('The REST API; on GitHub Enterprise Server https://HOST/api/v3.'),
  allowPlainHttp: z
    .boolean()
    .optional()
    .describe(
      'Whether apiUrl may begin with http://, so that tokens cross the network unencrypted. On this machine itself it always may.',
    ),
  intake: z
    .enum(['webhook', 'log'])
    .default('webhook')
    .describe(
      'Where deliveries come from: from the webhook alone, or also from GitHub’s log of them, which needs no way in.',
    ),
  apps: z
    .array(githubApp)
    .min(1, 'needs at least one GitHub App')
    .refine(
      (apps) => new Set(apps.map((app) => app.id)).size === apps.length,
      'the same App is listed twice',
    ),
});

const github = githubKeys.superRefine(({ apiUrl, allowPlainHttp = false }, context) => {
  const url = new URL(apiUrl);
  if (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && (allowPlainHttp || isLoopback(url)))
  )
    return;
  const message =
    'must begin with https://, for tokens are sent there; `allowPlainHttp: true` beside it lets them cross the network unencrypted';
  context.addIssue({ code: 'custom', path: ['apiUrl'], message });
});

const notifications = z
  .strictObject({
    webhook: secretSource.describe(
      'The address that is told what people must act on, as JSON that Slack takes.',
    ),
  })
  .optional();

const keysOfPoolsOnly = keysOfPools.filter((key) => !(key in poolsSections));

/**
 * The configuration file of all services. Each reads the sections that it needs. A service starts
 * even with pools that `configFileToLoad` refuses: deliveries must not fail for them.
 */
export const configFile = checkedTogether(
  z.strictObject({ ...misplacedInFile(keysOfPoolsOnly), github, notifications, ...poolsSections }),
);

/** To put its pools in force: jobs of unnamed users must have no power over their node. */
export const configFileToLoad = configFile.superRefine(refuseUntrusted, { when: () => true });

/** The GitHub section alone. A running service follows it even while other sections are refused. */
export const githubPart = z.looseObject({ github });

export const notificationsPart = z.looseObject({ notifications });

/**
 * The file's JSON Schema for editors. It has the rules of single values; a service checks the
 * others at its start.
 */
export const configJsonSchema = (): object => ({
  title: 'Configuration of Paddock',
  ...z.toJSONSchema(configFile, { io: 'input', target: 'draft-7', override: withoutRefused }),
  // A place for YAML anchors. No service reads these keys.
  patternProperties: { '^x-': {} },
});

export type ConfigFile = z.infer<typeof configFile>;
export type GitHubPart = Pick<ConfigFile, 'github'>;

/** An address of this machine, reached without a network. */
export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
