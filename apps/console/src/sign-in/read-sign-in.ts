import { readSecret } from '@paddock/runtime/read-secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import type { OidcOptions } from './oidc.ts';
import { type SignInFile, signInFile } from './sign-in-file.ts';

/** How people sign in without a token. Nobody does so without the file. */
export interface SignIn {
  readonly groups: SignInFile['groups'];
  readonly proxy: SignInFile['proxy'];
  readonly oidc: OidcOptions | undefined;
}

/** Reads the file, and the client's secret that it names. Problems go into the list. */
export function readSignIn(
  path: string | undefined,
  environment: Environment,
  problems: string[],
): SignIn {
  const file = path === undefined ? undefined : readYamlFile(path, signInFile);
  problems.push(...(file?.problems ?? []));
  const { groups = { read: [], operate: [] }, proxy, oidc } = file?.value ?? {};
  if (oidc === undefined) return { groups, proxy, oidc };
  const { clientSecret: source, ...rest } = oidc;
  const clientSecret =
    source &&
    readSecret('The client secret of the identity provider', source, environment, problems);
  return { groups, proxy, oidc: { ...rest, clientSecret } };
}
