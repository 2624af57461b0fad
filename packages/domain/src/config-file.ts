import { z } from 'zod';
import { checkedTogether, poolsSections } from './pools-document.ts';

/** Where a secret is found; the secret itself never stands in the file. */
const secretSource = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  'must be { env: NAME } or { file: PATH }',
);

const githubApp = z.strictObject({
  id: z.int().positive(),
  webhookSecret: secretSource.optional(),
  /** Still accepted while a secret is being rotated. */
  previousWebhookSecret: secretSource.optional(),
  privateKey: secretSource.optional(),
});

const github = z.strictObject({
  /** The REST API: https://HOST/api/v3 on GitHub Enterprise Server. */
  apiUrl: z.url().default('https://api.github.com'),
  apps: z
    .array(githubApp)
    .min(1, 'needs at least one GitHub App')
    .refine((apps) => new Set(apps.map((app) => app.id)).size === apps.length, 'the same App is listed twice'),
});

/** The one configuration file, shared by all services; each reads the sections that it needs. */
export const configFile = checkedTogether(z.strictObject({ github, ...poolsSections }));

export type ConfigFile = z.infer<typeof configFile>;
