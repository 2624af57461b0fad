import { githubPart, type GitHubPart } from '@paddock/domain/pools/config-file';
import { type EventLog, line, tellEvents } from '@paddock/runtime/events';
import { createFileReading, type ReadFile } from '@paddock/runtime/file-reading';
import type { Metrics } from '@paddock/runtime/metrics';
import { pause } from '@paddock/runtime/pause';
import type { Secret } from '@paddock/runtime/secret';
import { readYamlFile } from '@paddock/runtime/yaml-file';

/** An App as a service knows it. */
interface KnownApp {
  readonly appId: number;
  readonly secrets: readonly Secret[];
}

/** `secret`: it has another key or another webhook secret now. */
export interface AppChange {
  readonly appId: number;
  readonly change: 'added' | 'removed' | 'secret';
}

export interface FollowedApps {
  /** Takes the Apps of the configuration file if they have changed. */
  look(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
  /** Why changed files are refused, as a sentence for people, or undefined. */
  warning(): string | undefined;
}

export interface FollowAppsOptions<App> {
  readonly configPath: string;
  /** The Apps that were read at the start. */
  readonly apps: readonly App[];
  /** Reads the Apps and their secrets. Problems go into the list. */
  readonly read: (file: GitHubPart, problems: string[], readFile: ReadFile) => readonly App[];
  readonly known: (app: App) => KnownApp;
  /**
   * Puts the Apps in use, and hears which of them have changed: the one place that knows of another
   * key or secret.
   */
  readonly onChanged: (apps: readonly App[], changes: readonly AppChange[]) => void | Promise<void>;
  readonly events: AppEvents;
}

/** A look compares some small files. Kubernetes itself takes longer to bring a change into a pod. */
const LOOK_EVERY_MS = 5_000;

/**
 * Follows the GitHub section of the configuration file and the files of secrets that it names. Apps
 * that are invalid change nothing.
 */
export function followApps<App>({
  configPath,
  read,
  known,
  onChanged,
  events,
  ...given
}: FollowAppsOptions<App>): FollowedApps {
  let inUse = given.apps;
  const readApps = (readFile: ReadFile, problems: string[]) => {
    const file = readYamlFile(configPath, githubPart, readFile);
    problems.push(...file.problems);
    return file.value === undefined ? undefined : read(file.value, problems, readFile);
  };
  const reading = createFileReading({
    read: readApps,
    onRefused: events.refused,
    onAccepted: events.accepted,
  });

  const look = async (): Promise<void> => {
    const apps = await reading.look();
    if (apps === undefined) return;
    const changes = changesOf(inUse.map(known), apps.map(known));
    inUse = apps;
    if (changes.length === 0) return;
    await onChanged(apps, changes);
    for (const change of changes) events.changed(change);
  };

  return {
    look,
    run: async (signal) => {
      while (!signal.aborted) {
        await look();
        await pause(LOOK_EVERY_MS, signal);
      }
    },
    warning: () => {
      const refusal = reading.refusal();
      return refusal === undefined
        ? undefined
        : `changed GitHub Apps are refused, those read before stay in use: ${refusal}`;
    },
  };
}

function changesOf(before: readonly KnownApp[], after: readonly KnownApp[]): AppChange[] {
  const [former, newest] = [before, after].map(
    (apps) => new Map(apps.map(({ appId, secrets }) => [appId, textOf(secrets)])),
  ) as [Map<number, string>, Map<number, string>];
  const removed = [...former.keys()].filter((appId) => !newest.has(appId));
  const others = [...newest].filter(([appId, secrets]) => former.get(appId) !== secrets);
  return [
    ...removed.map((appId): AppChange => ({ appId, change: 'removed' })),
    ...others.map(([appId]): AppChange => ({
      appId,
      change: former.has(appId) ? 'secret' : 'added',
    })),
  ];
}

const textOf = (secrets: readonly Secret[]): string =>
  JSON.stringify(secrets.map((secret) => secret.reveal()));

const CHANGES = {
  added: 'a GitHub App was added',
  removed: 'a GitHub App was removed: it is not used any longer',
  secret: 'the changed secret of a GitHub App is in use',
} satisfies Record<AppChange['change'], string>;

const TABLE = {
  appsRefused: (problems: readonly string[]) =>
    line.error('changed GitHub Apps refused: those read before stay in use until you mend this', {
      problems,
    }),
  appChanged: ({ appId, change }: AppChange) => line.info(CHANGES[change], { appId }),
};

export type AppEvents = ReturnType<typeof appEvents>;

/** The metrics and log lines of Apps that change while the service runs, alike in all services. */
export function appEvents(metrics: Metrics, log: EventLog) {
  const { appsRefused, appChanged } = tellEvents(TABLE, { log, metrics });
  const areRefused = metrics.gauge(
    'paddock_apps_refused',
    '1 while changed GitHub Apps or their secrets are refused',
  );
  areRefused.set(0);
  return {
    refused(problems: readonly string[]) {
      areRefused.set(1);
      appsRefused(problems);
    },
    accepted: () => areRefused.set(0),
    changed: appChanged,
  };
}
