import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@paddock/db/migrate';
import type { Program } from '@paddock/processes/start-program';
import { waitFor } from '@paddock/testing/wait-for';
import {
  bundleVersion,
  createDatabaseBehind,
  findEarlierVersion,
  NEWEST,
} from './scenes/earlier-version.scene.ts';
import { type ServiceName, startSystem, type TestSystem } from './start-system.ts';

const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;
/** That many jobs complete in each stage. */
const ENOUGH = 5;
const AT_ONCE = 6;
/** Of shorter ones so many would run that GitHub's limit of registrations a minute holds them up. */
const DURATION_MS = 1_000;

const earlier = findEarlierVersion();
const name = 'the version before the newest migration, and this one (needs the history of git)';

(earlier === undefined ? describe.skip : describe)(name, () => {
  let folder: string;
  let system: TestSystem;
  const running = new Map<ServiceName, Program>();
  let stopLoad: ReturnType<typeof startLoad> | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'paddock-earlier-'));
    bundleVersion(earlier ?? '', folder);
    system = await startSystem({ database: await createDatabaseBehind() });
  });
  afterAll(async () => {
    await stopLoad?.();
    await system.stop();
    await rm(folder, { recursive: true });
  });

  /**
   * Starts a service's other version beside the running one, and ends that one when it is ready and
   * gets no more deliveries: the chart's `preStop` gives it the time for that. Resolves with that
   * one's end.
   */
  async function replace(service: ServiceName, version: 'earlier' | 'this') {
    const program = version === 'earlier' ? join(folder, `${service}.mjs`) : undefined;
    const former = running.get(service);
    running.set(service, await system.start(service, {}, program));
    if (former === undefined) return undefined;
    await untilMoreCompleted();
    former.kill('SIGTERM');
    return former.exited;
  }

  const completed = async () => (await system.github.report()).completed;

  async function untilMoreCompleted(): Promise<void> {
    const enough = (await completed()) + ENOUGH;
    await waitFor(`${enough} jobs to complete`, async () => (await completed()) >= enough);
  }

  /** Queues a job whenever fewer than a few are open, until it is stopped. */
  function startLoad() {
    const stop = new AbortController();
    const loading = waitFor(
      'the end of the load',
      async () => {
        const { jobs, completed: done } = await system.github.report();
        if (!stop.signal.aborted && jobs - done < AT_ONCE) {
          const labels = ['self-hosted', 'linux'];
          await system.github.queueJob({ repo: 'acme/shop', labels, durationMs: DURATION_MS });
        }
        return stop.signal.aborted;
      },
      // As long as the replacements take.
      { timeoutMs: Number.POSITIVE_INFINITY },
    );
    loading.catch(() => undefined); // awaited when it is stopped
    return () => {
      stop.abort();
      return loading;
    };
  }

  test('the earlier one works under load, and goes on while the newest migration is applied (A10)', async () => {
    for (const service of SERVICES) await replace(service, 'earlier');
    stopLoad = startLoad();
    await untilMoreCompleted();
    const { url, schema } = system.database;
    expect(await migrate({ url, schema })).toMatchObject({ applied: [NEWEST] });
    await untilMoreCompleted();
  });

  // An upgrade, and its rollback.
  test.each(['this', 'earlier'] as const)('%s version takes over', async (version) => {
    for (const service of SERVICES) {
      expect(await replace(service, version)).toEqual({ code: 0, signal: null });
      await untilMoreCompleted();
    }
  });

  test('no delivery was refused, no job lost and no second worker made (A10, P1, P2, P3)', async () => {
    await stopLoad?.();
    await waitFor('all jobs to complete', async () => (await system.github.report()).lost === 0);
    const { jobs, registrations, ...report } = await system.github.report();
    expect(report).toMatchObject({ lost: 0, killed: 0, excessWorkers: 0, failedDeliveries: 0 });
    expect(registrations).toBe(jobs);
  });
});
