import { configFile, githubPart, type GitHubPart } from '@paddock/domain/pools/config-file';
import { type EventLog, line, tellEvents } from '@paddock/runtime/events';
import { createFileReading, type ReadFile } from '@paddock/runtime/file-reading';
import { loop } from '@paddock/runtime/loop';
import type { Metrics } from '@paddock/runtime/metrics';
import type { Secret } from '@paddock/runtime/secret';
import { readYamlFile } from '@paddock/runtime/yaml-file';

/** An App as a service knows it. */
interface KnownApp {
  readonly appId: number;
  readonly secrets: readonly Secret[];
  /** Where it is called; absent: the service does not call it. */
  readonly apiUrl?: string;
}

/** `secret`: it has another key or another webhook secret now. `address`: another `apiUrl`. */
export interface AppChange {
  readonly appId: number;
  readonly change: 'added' | 'removed' | 'secret' | 'address';
}

/**
 * Reads the GitHub section for a service that starts. If it cannot start, the problems of the other
 * sections join the list, so that people mend all at once; alone they keep no service from starting.
 */
export function readGitHubPart(path: string, problems: string[]): GitHubPart | undefined {
  const { value } = readYamlFile(path, githubPart);
  if (value === undefined || problems.length > 0)
    problems.push(...readYamlFile(path, configFile).problems);
  return value;
}

export interface FollowAppsOptions<Apps> {
  readonly configPath: string;
  /** The Apps that were read at the start. */
  readonly apps: Apps;
  /** Reads the Apps and their secrets. Problems go into the list. */
  readonly read: (file: GitHubPart, problems: string[], readFile: ReadFile) => Apps;
  readonly known: (apps: Apps) => readonly KnownApp[];
  /**
   * Puts the section in use, and hears which of its Apps have changed: the one place that knows of
   * another key or secret. Called again if it rejects.
   */
  readonly onChanged: (apps: Apps, changes: readonly AppChange[]) => void | Promise<void>;
  readonly events: AppEvents;
}

/** A look compares some small files. Kubernetes itself takes longer to bring a change into a pod. */
export const LOOK_EVERY_MS = 5_000;

/**
 * Follows the GitHub section of the configuration file and the files of secrets that it names. Apps
 * that are invalid change nothing.
 */
export function followApps<Apps>({
  configPath,
  read,
  known,
  onChanged,
  events,
  ...given
}: FollowAppsOptions<Apps>) {
  let inUse = given.apps;
  /** Changed Apps that could not be taken yet. */
  let next: Apps | undefined;
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

  /** Takes the Apps of the configuration file if they have changed. */
  const look = async (): Promise<void> => {
    next = (await reading.look()) ?? next;
    if (next === undefined) return;
    const changes = changesOf(known(inUse), known(next));
    await onChanged(next, changes);
    [inUse, next] = [next, undefined];
    for (const change of changes) events.changed(change);
  };

  return {
    look,
    run: (signal: AbortSignal) =>
      loop(look, { intervalMs: LOOK_EVERY_MS, onError: events.notTaken }, signal),
    /** Why changed files are refused, as a sentence for people. */
    refusal: () => {
      const refusal = reading.refusal();
      return refusal === undefined
        ? undefined
        : `changed GitHub Apps are refused, those read before stay in use: ${refusal}`;
    },
  };
}

function changesOf(before: readonly KnownApp[], after: readonly KnownApp[]): AppChange[] {
  const removed = before.filter(({ appId }) => !after.some((app) => app.appId === appId));
  return [
    ...removed.map(({ appId }): AppChange => ({ appId, change: 'removed' })),
    ...after.flatMap((app) => {
      const change = changeOf(
        before.find(({ appId }) => appId === app.appId),
        app,
      );
      return change === undefined ? [] : [{ appId: app.appId, change }];
    }),
  ];
}

function changeOf(before: KnownApp | undefined, after: KnownApp): AppChange['change'] | undefined {
  if (before === undefined) return 'added';
  if (before.apiUrl !== after.apiUrl) return 'address';
  return textOf(before) === textOf(after) ? undefined : 'secret';
}

const textOf = ({ secrets }: KnownApp): string =>
  JSON.stringify(secrets.map((secret) => secret.reveal()));

const CHANGES = {
  added: 'a GitHub App was added',
  removed: 'a GitHub App was removed: it is not used any longer',
  secret: 'the changed secret of a GitHub App is in use',
  address: 'a GitHub App is called at the changed apiUrl',
} satisfies Record<AppChange['change'], string>;

const TABLE = {
  appsRefused: (problems: readonly string[]) =>
    line.error('changed GitHub Apps refused: those read before stay in use until you mend this', {
      problems,
    }),
  appsNotTaken: (error: unknown) =>
    line.warn('could not take changed GitHub Apps to the end; trying again', { error }),
  appChanged: ({ appId, change }: AppChange) => line.info(CHANGES[change], { appId }),
  appUnfit: (appId: number, problems: readonly string[]) =>
    problems.length > 0
      ? line.error('a GitHub App is not as Paddock needs it, so jobs may wait', {
          appId,
          problems,
        })
      : line.info('a GitHub App is as Paddock needs it', { appId }),
};

export type AppEvents = ReturnType<typeof appEvents>;

/** The metrics and log lines of Apps that change while the service runs, alike in all services. */
export function appEvents(metrics: Metrics, log: EventLog) {
  const { appsRefused, appsNotTaken, appChanged, appUnfit } = tellEvents(TABLE, { log, metrics });
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
    notTaken: appsNotTaken,
    changed: appChanged,
    unfit: appUnfit,
  };
}
