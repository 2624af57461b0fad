import { type ReadFile, readText } from '@paddock/runtime/file-reading';
import { type Secret, readSecret } from '@paddock/runtime/secret';
import { secretSource } from '@paddock/domain/pools/config-file';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { z } from 'zod';

/** Of a group, or a claim. */
const name = z.string().min(1).max(200);

/** Who may sign in without a token: the file that PADDOCK_SIGN_IN names. */
export const signInFile = z
  .strictObject({
    groups: z
      .strictObject({
        read: z
          .array(name)
          .default([])
          .describe('Groups whose people may read; `*`: everybody who signs in'),
        operate: z.array(name).default([]).describe('Groups whose people may read and act'),
      })
      .refine(({ read, operate }) => read.length + operate.length > 0, 'must name a group')
      .describe('What people may do'),
    oidc: z
      .strictObject({
        url: z
          .string()
          .regex(
            /^https?:\/\/[^\s/?#]+(\/[\w.-]+)*$/,
            'must be an http or https URL without a slash at its end',
          )
          .describe(
            'Where browsers find the page. The provider sends them back to /sign-in/callback there',
          ),
        issuer: z
          .string()
          .regex(
            /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])[^\s?#]+$/,
            'must be an https URL, or an http one of this machine',
          )
          .describe('The OpenID Connect provider, as its discovery document names itself'),
        clientId: z.string().min(1).describe('The console’s client id there'),
        clientSecret: secretSource
          .optional()
          .describe('Without it the client is a public one, and PKCE alone protects it'),
        scopes: z
          .array(z.string().regex(/^\S+$/))
          .refine((scopes) => scopes.includes('openid'), 'must have openid')
          .default(['openid', 'profile', 'email'])
          .describe('What to ask the provider for; some want groups here too'),
        nameClaim: name.default('email').describe('Names the person in the list of actions'),
        groupsClaim: name.default('groups').describe('Lists the person’s groups'),
      })
      .optional()
      .describe('Sign-in by an identity provider'),
    proxy: z
      .strictObject({
        peers: z
          .array(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]))
          .min(1)
          .describe('Addresses of proxies that are believed, and of nobody else'),
        nameHeader: z
          .string()
          .toLowerCase()
          .default('x-forwarded-user')
          .describe('The header with the person’s name'),
        groupsHeader: z
          .string()
          .toLowerCase()
          .default('x-forwarded-groups')
          .describe('The header with their groups, with commas or `|` between them'),
      })
      .optional()
      .describe('Sign-in by a proxy before the console'),
  })
  .refine(({ oidc, proxy }) => (oidc ?? proxy) !== undefined, 'must have oidc or proxy');

export type SignInFile = z.output<typeof signInFile>;

export type OidcOptions = Readonly<
  Omit<NonNullable<SignInFile['oidc']>, 'clientSecret'> & {
    /** Undefined: a public client. */
    clientSecret: Secret | undefined;
  }
>;

/** And the client's secret. Problems go into the list; without a file tokens alone sign in. */
export function readSignIn(
  path: string | undefined,
  environment: Environment,
  problems: string[],
  readFile: ReadFile = readText,
) {
  const file = path === undefined ? undefined : readYamlFile(path, signInFile, readFile);
  problems.push(...(file?.problems ?? []));
  const { groups = { read: [], operate: [] }, proxy, oidc } = file?.value ?? {};
  if (oidc === undefined) return { groups, proxy, oidc };
  const { clientSecret: source, ...rest } = oidc;
  const clientSecret =
    source &&
    readSecret(
      'The client secret of the identity provider',
      source,
      environment,
      problems,
      readFile,
    );
  return { groups, proxy, oidc: { ...rest, clientSecret } };
}

export type SignIn = ReturnType<typeof readSignIn>;
