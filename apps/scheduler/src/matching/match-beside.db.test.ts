import { describe, expect, test } from '@jest/globals';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { sql } from 'kysely';
import { useMatching } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { matchOnce } from './match.ts';

const scene = useMatching({});

describe('passes beside each other and beside what they match', () => {
  test('eight matchers beside arriving jobs make one worker per job, each with its task (C5, P3)', async () => {
    const arrive = async (): Promise<void> => {
      for (let n = 0; n < 10; n += 1) {
        await putJob(scene.db);
        await scene.match();
      }
    };
    await Promise.all(Array.from({ length: 4 }, arrive));
    expect(await scene.workers()).toHaveLength(40);
    expect(await scene.db.selectFrom('tasks').select('id').execute()).toHaveLength(40);
  });

  test('a pass does not wait for ever behind one that hangs (C1)', async () => {
    await putJob(scene.db);
    const limits = { lockTimeoutMs: 50, statementTimeoutMs: 15_000, idleTimeoutMs: 8_000 };
    await scene.db.transaction().execute(async (hanging) => {
      await sql`select pg_advisory_xact_lock((select oid from pg_namespace where nspname = current_schema())::int, 1)`.execute(
        hanging,
      );
      await expect(matchOnce(scene.db, GATE, limits)).rejects.toMatchObject({ code: '55P03' });
    });
    expect((await scene.match()).reserved).toHaveLength(1);
  });

  test('beside ingress that writes the same jobs and workers none ends in a deadlock or exceeds the caps (B6, C5)', async () => {
    const jobs = 40;
    const pools = { version: 1, document: examplePools({ entities: { '*': { maxWorkers: 30 } } }) };
    await putPools(scene.db, pools.document);
    /** Each job starts on one of our workers and ends, in batches that come in another order each time. */
    const deliver = async (shift: number): Promise<void> => {
      for (const action of ['queued', 'in_progress', 'completed'] as const) {
        const made = await scene.workers();
        const batch = Array.from({ length: jobs }, (_, index) => {
          const id = 900 + ((index * 7 + shift) % jobs);
          const runner = made[(id + shift) % Math.max(made.length, 1)]?.pod_name ?? 'foreign';
          const job = { runner_name: action === 'queued' ? null : runner };
          return ofJob(action, id, { labels: ['linux'], job });
        });
        for (let first = 0; first < jobs; first += 10)
          await recordDeliveries(scene.db, batch.slice(first, first + 10), pools);
      }
    };
    const delivered = new AbortController();
    const match = async (): Promise<void> => {
      while (!delivered.signal.aborted) {
        await scene.match({ most: 7 });
        expect((await scene.alive()).length).toBeLessThanOrEqual(30);
      }
    };
    const delivering = Promise.all([0, 13, 26].map(deliver)).finally(() => delivered.abort());
    await Promise.all([delivering, match(), match()]);
    await scene.matchAll();
    // All jobs have ended, so no unregistered reservation is kept for them.
    expect(await scene.keys()).toEqual([]);
    expect((await scene.alive()).filter(({ assigned_at: at }) => at === null)).toEqual([]);
  });
});

/** Jobs pending or running less workers pending or running, per entity and labels. */
const lack = async (): Promise<number> => {
  const { rows } = await sql<{ lack: number }>`
    select coalesce(sum(greatest(coalesce(j.n, 0) - coalesce(w.n, 0), 0)), 0)::integer as lack
    from (select entity_id, job_labels, count(*) n from jobs where status in ('pending', 'running') group by 1, 2) j
    left join (select entity_id, job_labels, count(*) n from workers where status in ('pending', 'running') group by 1, 2) w
      using (entity_id, job_labels)`.execute(scene.db);
  return rows[0]?.lack ?? 0;
};

/** One thing that happens; jobs run on the worker that was made for them. */
const take = async (step: string, which: number): Promise<void> => {
  const alive = await scene.alive();
  const worker = alive[which % Math.max(alive.length, 1)];
  const now = new Date();
  const change = async (
    ofJobs: Parameters<typeof scene.changeJobs>[0],
    ofWorkers: Parameters<typeof scene.changeWorkers>[0],
  ) => {
    const job = scene.db.updateTable('jobs').where('job_id', '=', worker?.made_for_job_id ?? 0);
    await job.set(ofJobs).execute();
    await scene.changeWorkers(ofWorkers, worker?.pod_name ?? '');
  };
  const isFree = worker?.assigned_at === null;
  if (step === 'arrive')
    await scene.putJobs(1, which % 2 === 0 ? {} : { entity_id: 90_000_002, entity_name: 'other' });
  else if (step === 'match') await scene.match();
  else if (step === 'start' && isFree)
    await change(
      { status: 'running', wants_worker: false },
      { status: 'running', assigned_at: now, assigned_job_id: worker.made_for_job_id },
    );
  else if (step === 'finish' && worker !== undefined && !isFree) {
    const end = { status: 'completed', completed_at: now } as const;
    await change(end, end);
  } else if (step === 'lose' && isFree)
    await scene.changeWorkers({ status: 'failed', completed_at: now }, worker.pod_name);
};

test('a pass makes as many workers as the reference rule, while every job runs on the worker made for it (C3)', async () => {
  const step = fc.tuple(fc.constantFrom('arrive', 'start', 'finish', 'lose', 'match'), fc.nat(5));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await scene.empty();
      for (const [what, which] of steps) await take(what, which);
      const before = await lack();
      const { reserved } = await scene.match();
      expect([reserved.length, await lack()]).toEqual([before, 0]);
    }),
    { numRuns: 40 },
  );
});
