import type { Caller, Endpoint } from '@paddock/api/endpoint';
import { findJobEndpoint } from '@paddock/api/jobs/job';
import { Problem } from '@paddock/api/problem';
import { type AnswerOf, API } from '@paddock/api/endpoints';
import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import type { GitHubControl } from '@paddock/simulators/github/control';
import type { NewJob } from '@paddock/simulators/github/jobs';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import type { Kysely } from 'kysely';
import type { System } from '../start-system.ts';

const HOUR_MS = 3_600_000;
/** Dozens of stops look at once. */
const LOOK_EVERY_MS = 500;
/** For one state. The slowest takes half of it on two busy cores. */
const LONGEST_MS = 120_000;

/** What the stops of the tour act on, and what they ask. */
export interface TourWorld {
  readonly github: GitHubControl;
  readonly cluster: RemoteKubeControl;
  readonly configure: System['configure'];
  /** The id of the App's installation on an entity. */
  installation(login: string): number;
  /** Queues a job at GitHub that would run for an hour, unless `more` says otherwise. */
  queue(repo: string, label: string, more?: Partial<NewJob>): Promise<number>;
  /** Asks or does what a person could, as “the demo”. */
  ask<E extends Endpoint>(
    endpoint: E,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Awaited<ReturnType<E['answer']>>>;
  /** Waits until the answer to why a job waits is as expected. */
  untilWhy(job: number, isSo: (answer: AnswerOf<'whyJob'>) => boolean): Promise<AnswerOf<'whyJob'>>;
  /**
   * One job runs and holds the only place of its account, or of the pool of `label`; another waits
   * for it. Returns the other.
   */
  waitBehindOne(repo: string, label: string): Promise<number>;
  /** Waits until a job has a worker. Returns the worker's name. */
  untilRunning(job: number): Promise<string>;
  /** Waits until GitHub has given a job of the repository to a runner. */
  untilBegun(repo: string): Promise<void>;
  /** Waits until `look` finds something. Rejects with `what`, if that takes too long. */
  until<T>(what: string | (() => string), look: () => Promise<T | undefined>): Promise<T>;
}

/** The world of a system that runs; the installations are those of its accounts. */
export function createWorld(
  { github, cluster, configure }: System,
  db: Kysely<Database>,
  { installations, signal }: { installations: ReadonlyMap<string, number>; signal: AbortSignal },
): TourWorld {
  const caller: Caller = { db, person: 'the demo', from: 'terminal' };
  const ask = async <E extends Endpoint>(
    endpoint: E,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Awaited<ReturnType<E['answer']>>> =>
    (await endpoint.answer(caller, endpoint.input.parse(input))) as Awaited<
      ReturnType<E['answer']>
    >;
  const until: TourWorld['until'] = async (what, look) => {
    const began = performance.now();
    for (;;) {
      signal.throwIfAborted();
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() - began > LONGEST_MS)
        throw new Error(`not reached: ${typeof what === 'string' ? what : what()}`);
      await pause(LOOK_EVERY_MS, signal);
    }
  };
  const world: TourWorld = {
    github,
    cluster,
    configure,
    ask,
    until,
    async waitBehindOne(repo, label) {
      await world.untilRunning(await world.queue(repo, label, { workflowName: 'Nightly' }));
      const job = await world.queue(repo, label, { jobName: 'test', workflowName: 'Pull request' });
      await world.untilWhy(job, ({ reason }) => /^at_(entity|pool)_cap$/.test(reason ?? ''));
      return job;
    },
    installation(login) {
      const id = installations.get(login);
      if (id === undefined) throw new Error(`The tour has installed no App on ${login}.`);
      return id;
    },
    async queue(repo, label, more = {}) {
      const labels = ['self-hosted', label];
      return (await github.queueJob({ repo, labels, durationMs: HOUR_MS, ...more })).id;
    },
    async untilWhy(job, isSo) {
      let last: AnswerOf<'whyJob'> | undefined;
      const say = () => `job ${job}, last: ${last?.reason ?? last?.state}: ${last?.sentence}`;
      return until(say, async () => {
        last = await unlessUnknown(ask(API.whyJob, { job }));
        return last !== undefined && isSo(last) ? last : undefined;
      });
    },
    async untilBegun(repo) {
      await until(`a job of ${repo} has begun`, async () => {
        const { jobs } = await github.truth();
        return jobs.some((job) => job.repo === repo && job.leftQueueAt !== null) || undefined;
      });
    },
    untilRunning: (job) =>
      until(`job ${job} runs`, async () => {
        const row = await unlessUnknown(ask(findJobEndpoint, { job }));
        return row?.state === 'running' ? (row.worker ?? undefined) : undefined;
      }),
  };
  return world;
}

/** Undefined while Paddock does not know the subject: its delivery may be on its way. */
export async function unlessUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.status !== 409) return undefined;
    throw error;
  }
}
