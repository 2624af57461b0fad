import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { closestName } from '@paddock/runtime/closest-name';
import { ConfigError } from '@paddock/runtime/config-error';
import { readText } from '@paddock/runtime/file-reading';
import { readYaml } from '@paddock/runtime/yaml-file';

const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

/** The ways to say who one is. A user without any would be anonymous. */
const CREDENTIALS = wordsOf(`
  token tokenFile client-certificate client-certificate-data username exec auth-provider`);

/**
 * The fields that we read, or that change no call. The library drops others, so the API server
 * would see somebody else: without `as-groups`, for one.
 */
const FIELDS = {
  cluster: wordsOf(`
    server certificate-authority certificate-authority-data insecure-skip-tls-verify
    tls-server-name proxy-url disable-compression extensions`),
  user: [...CREDENTIALS, ...wordsOf('client-key client-key-data password as extensions')],
};

/** Of both, the library takes another one than kubectl, which refuses most of these pairs, too. */
const NOT_BOTH = [
  ['certificate-authority', 'certificate-authority-data'],
  ['certificate-authority', 'insecure-skip-tls-verify'],
  ['certificate-authority-data', 'insecure-skip-tls-verify'],
  ['client-certificate', 'client-certificate-data'],
  ['client-key', 'client-key-data'],
  ['exec', 'auth-provider'],
  ['exec', 'tokenFile'],
  ['auth-provider', 'tokenFile'],
] as const;

/** Credentials that are none without one of these: we would be anonymous. */
const NEEDED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  username: ['password'],
  'client-certificate': ['client-key', 'client-key-data'],
  'client-certificate-data': ['client-key', 'client-key-data'],
};

const AUTH_PROVIDERS = ['azure', 'exec', 'gcp', 'oidc', 'tokenFile'];

/**
 * Reads a kubeconfig file. Throws ConfigError if it cannot be read, or if its current context has a
 * field that we do not read. No message quotes a value: it may be a token.
 */
export function readKubeconfig(file: string): KubeConfig {
  const config = new KubeConfig();
  let written: Record<string, unknown>;
  try {
    config.loadFromFile(file);
    written = asRecord(readYaml(readText(file)).content);
  } catch (error) {
    // A parser's message quotes the file.
    const isOfFile = isRecord(error) && 'syscall' in error;
    const why = isOfFile ? String(error['message']) : 'it does not have the form of a kubeconfig';
    throw new ConfigError([`the kubeconfig file ${file} cannot be read: ${why}`]);
  }
  const context = config.getContextObject(config.getCurrentContext());
  const entry = (kind: 'cluster' | 'user'): Record<string, unknown> => {
    const named = asList(written[`${kind}s`]).map(asRecord);
    return fieldsSetIn(named.find(({ name }) => name === context?.[kind])?.[kind]);
  };
  const user = entry('user');
  const problems = [...problemsIn('cluster', entry('cluster')), ...problemsIn('user', user)];
  if (context !== null) problems.push(...problemsOfUser(user));
  if (problems.length > 0)
    throw new ConfigError(
      problems.map((problem) => `the kubeconfig file ${file}: in its current context, ${problem}`),
    );

  // Of paths, the library completes those of certificates only.
  const { tokenFile, exec } = user;
  const inFolder = (path: unknown) => resolve(dirname(file), String(path));
  const known = config.getCurrentUser();
  if (known !== null && tokenFile !== undefined) {
    const authProvider = { name: 'tokenFile', config: { tokenFile: inFolder(tokenFile) } };
    Object.assign(known, { authProvider, token: undefined });
  }
  const { command } = asRecord(exec);
  if (known !== null && String(command).includes('/'))
    Object.assign(known, { exec: { ...asRecord(exec), command: inFolder(command) } });
  return config;
}

/** Without those that say nothing. */
const fieldsSetIn = (entry: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(asRecord(entry)).filter(
      ([, value]) => ![undefined, null, '', false].some((nothing) => nothing === value),
    ),
  );

function problemsIn(kind: keyof typeof FIELDS, entry: Record<string, unknown>): string[] {
  const unknown = Object.keys(entry).filter((field) => !FIELDS[kind].includes(field));
  return [
    ...unknown.map((field) => {
      const meant = closestName(field, FIELDS[kind]);
      return `the ${kind} has ${field}, which Paddock does not read${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    }),
    ...NOT_BOTH.filter((pair) => pair.every((field) => field in entry)).map(
      ([one, other]) => `the ${kind} has both ${one} and ${other}: keep one`,
    ),
  ];
}

function problemsOfUser(user: Record<string, unknown>): string[] {
  const provider = fieldsSetIn(user['auth-provider'])['name'];
  return [
    ...(CREDENTIALS.some((field) => field in user)
      ? []
      : [`the user is not there or has no credentials: name one with ${CREDENTIALS.join(', ')}`]),
    ...Object.entries(NEEDED)
      .filter(([field, others]) => field in user && !others.some((other) => other in user))
      .map(([field, [other]]) => `the user has ${field}, and no ${other}`),
    ...('auth-provider' in user && !AUTH_PROVIDERS.includes(String(provider))
      ? [`the user's auth-provider is none of ${AUTH_PROVIDERS.join(', ')}`]
      : []),
    ...(asRecord(user['exec'])['provideClusterInfo'] === true
      ? ["the user's exec has provideClusterInfo, which Paddock does not give"]
      : []),
  ];
}
