import type { RunnerSet } from './runner-set.ts';

/** An App of the configuration file, and how its credentials come into the cluster. */
interface ImportedApp {
  readonly app: object;
  /** Unknown: a person must write its ID. */
  readonly isKnown: boolean;
  readonly commands: readonly string[];
}

/** One App for each that the sets name: by its ID, or by the Secret that has it. */
export function appsOf(sets: readonly RunnerSet[], appId: number | undefined): ImportedApp[] {
  const byApp = Map.groupBy(sets, ({ credentials }) =>
    String(appId ?? credentials.appId ?? credentials.secret ?? ''),
  );
  const named = [...byApp.values()].filter(
    ([first]) =>
      byApp.size === 1 ||
      first?.credentials.secret !== undefined ||
      first?.credentials.appId !== undefined,
  );
  const known = new Set(named.map(([first]) => appId ?? first?.credentials.appId));
  let unknown = 0;
  return named.map((users, index) => {
    const [first] = users;
    const id = appId ?? first?.credentials.appId;
    if (id === undefined)
      do unknown++;
      while (known.has(unknown));
    // The chart mounts the files of one App.
    const suffix = index === 0 ? '' : `-${index + 1}`;
    const owner = users.find(({ credentials }) => credentials.secret !== undefined);
    const name = owner?.credentials.secret;
    const secret =
      name === undefined
        ? undefined
        : ([inShell(owner?.namespace, 'NAMESPACE'), inShell(name, 'SECRET')] as const);
    return {
      app: {
        id: id ?? unknown,
        webhookSecret: { file: `/etc/paddock/webhook/webhook-secret${suffix}` },
        privateKey: { file: `/etc/paddock/app/private-key${suffix}.pem` },
      },
      isKnown: id !== undefined,
      commands: secret === undefined ? [] : commandsFor(secret, suffix, id === undefined),
    };
  });
}

/** The name of an object, or a word for a person to replace: others' text is no part of a command. */
const inShell = (name: string | undefined, word: string): string =>
  /^[a-z0-9][a-z0-9.-]*$/.test(name ?? '') ? String(name) : word;

function commandsFor(
  [namespace, name]: readonly [string, string],
  suffix: string,
  isIdWanted: boolean,
): string[] {
  const read = (key: string) =>
    `kubectl get secret ${name} -n ${namespace} -o jsonpath='{.data.${key}}' | base64 -d`;
  return [
    ...(isIdWanted ? [read('github_app_id')] : []),
    `kubectl create secret generic paddock-github${suffix} -n paddock --from-literal=webhook-secret${suffix}="$(openssl rand -hex 32)" --from-literal=private-key${suffix}.pem="$(${read('github_app_private_key')})"`,
  ];
}
