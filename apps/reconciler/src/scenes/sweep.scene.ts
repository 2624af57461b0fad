import { afterEach, beforeEach } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import { dbRules } from '@paddock/db/rules';
import type { Db } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { probeGitHub } from '@paddock/github/probe';
import { createJitConfig } from '@paddock/github/runners';
import { ACME, connectSmallWorld, TOOL } from '@paddock/github/scenes/small-world.scene';
import type { Cluster } from '@paddock/kube/connect';
import type { Outcome } from '@paddock/queue/kind';
import { queueRules } from '@paddock/queue/rules';
import { valuesOf } from '@paddock/runtime/rules';
import { playRunner } from '@paddock/simulators/github/play-runner';
import type { SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { late } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { type ReconcilerConfig, settings } from '../settings.ts';
import type { ReconcilerEvents } from '../events.ts';
import { beginPass, type PassOptions } from '../passes/pass.ts';
import { reconcilerRules } from '../rules.ts';
import type { Sweep, SweepContext } from '../sweep.ts';

/** The defaults of all settings and rules, without a configuration file. */
export const CONFIG = {
  ...Object.fromEntries(Object.entries(settings).map(([name, one]) => [name, one.default])),
  ...valuesOf(dbRules),
  ...valuesOf(queueRules),
  ...valuesOf(reconcilerRules),
} as unknown as ReconcilerConfig;

/** No sweep of these tests finds a pod to ask for. */
const NO_CLUSTER: Cluster = {
  server: 'http://127.0.0.1:1',
  requestTimeoutMs: 1,
  send: () => Promise.reject(new Error('there is no cluster in this test')),
  close: () => undefined,
};

/** Events that only note what they are told; nothing of an empty list. */
export function noteEvents() {
  const all: { readonly event: string; readonly what: unknown[] }[] = [];
  const events = new Proxy({} as ReconcilerEvents, {
    get:
      (_nothing, event) =>
      (...what: unknown[]) => {
        const isEmpty = what.some((one) => Array.isArray(one) && one.length === 0);
        if (!isEmpty) all.push({ event: String(event), what });
      },
  });
  return {
    events,
    /** What was told with each event of this name. */
    told: (name: keyof ReconcilerEvents) =>
      all.flatMap(({ event, what }) => (event === name ? [what] : [])),
  };
}

export const taskOf = (type: string, id: string, payload: object = {}): PassOptions['task'] => ({
  subject: { type, id, name: null },
  payload,
});

/** The schedule of passes by hand; it has a row only where a test makes one. */
export const BY_HAND = 'by hand';

/** A pass by hand, one visit after the other; no service is away. */
export const beginByHand = (db: Db, given: Partial<PassOptions> = {}) =>
  beginPass({
    db,
    schedule: BY_HAND,
    task: taskOf('schedule', BY_HAND),
    signal: new AbortController().signal,
    dryRun: false,
    isAway: () => Promise.resolve(false),
    onUnusable: () => undefined,
    atOnce: 1,
    ...given,
  });

/** Asks the simulated GitHub; the cluster is never away. */
const githubIsAway =
  (github: GitHub): PassOptions['isAway'] =>
  async (service) =>
    service === 'github' && (await probeGitHub(github, new AbortController().signal)) !== undefined;

/** The context of sweeps that ask nobody. */
export const usualContext = (db: Db): SweepContext => ({
  db,
  github: { appIds: [] } as never,
  cluster: NO_CLUSTER,
  config: CONFIG,
  events: noteEvents().events,
  isAway: () => Promise.resolve(false),
  takesFromLog: () => false,
  newestPages: new Map(),
  webhook: () => undefined,
  collector: undefined,
  taskEvents: { taskCrashed: () => undefined },
});

/** What a test gives a pass otherwise than usual. */
export interface Given extends Partial<
  Pick<SweepContext, 'github' | 'cluster' | 'takesFromLog' | 'newestPages'>
> {
  readonly config?: Partial<ReconcilerConfig>;
  readonly appIds?: readonly number[];
  readonly pass?: Partial<PassOptions>;
  readonly dryRun?: boolean;
}

/** A pass's output; of one that is not done, its outcome. */
export const outputOf = (outcome: Outcome) =>
  (outcome.outcome === 'done' ? outcome.output : outcome) as Record<string, number>;

/**
 * Passes of sweeps by hand, with the reconciler's rights; the test's own statements may do anything.
 */
export function usualSweeps(
  database: TestDatabase,
  world: SmallWorld,
  usual: Given & { readonly connect?: Parameters<typeof connectSmallWorld>[1] } = {},
) {
  const db = database.dbOf('reconciler');
  const { events, told } = noteEvents();
  const waits = createWaits(db, () => undefined);
  const github = connectSmallWorld(world, { waits, ...usual.connect });
  const begin = async ({ pass, dryRun = false }: Given = {}) =>
    beginByHand(db, { isAway: githubIsAway(github), dryRun, ...usual.pass, ...pass });
  const contextOf = (given: Given = {}): SweepContext => ({
    ...usualContext(db),
    github: { ...(given.github ?? github), ...(given.appIds && { appIds: given.appIds }) },
    cluster: given.cluster ?? usual.cluster ?? NO_CLUSTER,
    ...(given.takesFromLog && { takesFromLog: given.takesFromLog }),
    ...(given.newestPages && { newestPages: given.newestPages }),
    config: { ...CONFIG, ...usual.config, ...given.config },
    events,
    isAway: githubIsAway(github),
  });
  return {
    own: db,
    github,
    told,
    begin,
    contextOf,
    run: async (sweep: Sweep['pass'], given: Given = {}) =>
      sweep(contextOf(given), (await begin(given)).pass),
  };
}

/** The columns of one of our rows about an account of the world. */
export const accountOf = (
  { appId, user }: SmallWorld,
  account: SmallWorld['user'] | SmallWorld['organization'],
) => ({
  app_id: appId,
  installation_id: account.installationId,
  entity_id: account.id,
  entity_name: account.login,
  entity_type: account === user ? ('User' as const) : ('Organization' as const),
});

/** Runners at the simulated GitHub: the organisation's, or those of the user's repository. */
export function usualRunners(
  { github: simulator, user, organization }: SmallWorld,
  github: GitHub,
) {
  const stopping = new AbortController();
  const playing: Promise<unknown>[] = [];
  const truth = async (name: string) =>
    (await simulator.truth()).runners.find((runner) => runner.name === name);
  return {
    truth,
    register: async (name: string, isOfUser = false) =>
      createJitConfig(
        github.asInstallation(isOfUser ? user : organization),
        isOfUser ? TOOL : ACME,
        {
          name,
          labels: ['linux'],
          runnerGroupId: 1,
        },
      ),
    /** Starts a runner, which works until the scene stops. */
    async play(name: string, jitConfig: string): Promise<void> {
      playing.push(playRunner(jitConfig, stopping.signal));
      // One with a short job may have ended by then, and GitHub has forgotten it.
      await waitFor('the runner', async () => (await truth(name))?.state !== 'registered');
    },
    async stopRunners(): Promise<void> {
      stopping.abort();
      await Promise.all(playing);
    },
  };
}

/**
 * Makes a schedule whose passes have failed on the organisation three times, over two hours. Returns
 * its name.
 */
export async function putFailedLong(db: Db, entityId: number): Promise<string> {
  const since = Date.now() - 2 * 3_600_000;
  const failing = { [`${entityId} 0`]: { times: 3, since, dueAt: since } };
  const name = 'failing for long';
  const row = { name, last_tick_at: new Date(), last_pass: JSON.stringify({ failing }) };
  await db.insertInto('schedules').values(row).execute();
  return name;
}

/** A scene for each test, stopped after it. */
export function useScene<T extends { stop(): Promise<void> }>(start: () => Promise<T>): T {
  let scene: T;
  beforeEach(async () => {
    scene = await start();
  });
  afterEach(() => scene.stop());
  return late(() => scene);
}
