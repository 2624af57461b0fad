import { setTimeout as sleep } from 'node:timers/promises';
import { saysAway } from '@paddock/db/connection/errors';
import { rowsOf } from '@paddock/db/rows';
import { sql } from 'kysely';
import { whyJobEndpoint } from '@paddock/api/why/explain-job';
import type { Environment } from '../stage/environment.ts';
import type { Service } from '../stage/service.ts';
import type { Stage } from '../stage/stage.ts';
import { readSigns } from './signs.ts';
import { type Beginning, type Hit, isHit } from './fault.ts';

type Act = (stage: Stage) => Promise<unknown>;

/** A state of the world from one share (0–1) of the queued jobs to another. */
export interface Strike {
  /** At 0 it begins before the first job. */
  readonly from: number;
  readonly to: number;
  readonly start?: Act;
  /** After the start no further job is queued until this has happened. */
  readonly first?: Act;
  /** It lasts until these have happened, in this order, and until the board has named the cause. */
  readonly until?: readonly Act[];
  /** Absent: it never ends. */
  readonly end?: Act;
}

/** Several strikes, one after the other. */
export const strikes =
  (...all: readonly Strike[]): Beginning =>
  async (stage, progress) => {
    const isReady = all.map(() => Promise.withResolvers<void>());
    const startOf = async (index: number): Promise<void> => {
      const { start, first } = all[index] ?? {};
      await start?.(stage);
      if (first !== undefined) progress.holdUp(isReady[index]?.promise ?? Promise.resolve());
    };
    const isEarly = all[0]?.from === 0;
    if (isEarly) await startOf(0);
    return async () => {
      for (const [index, { from, to, first, until: happened = [], end }] of all.entries()) {
        await progress.reached(from);
        if (index > 0 || !isEarly) await startOf(index);
        try {
          await first?.(stage).finally(isReady[index]?.resolve);
          await progress.reached(to);
          for (const act of happened) await act(stage);
          await progress.boardRead();
        } finally {
          if (end !== undefined) {
            const ended = end(stage);
            // The next deliveries show ingress that it missed some: a slow start must not miss all.
            progress.holdUp(ended);
            await ended;
            progress.over();
          }
        }
      }
    };
  };

/** Several of these at a time. */
export const together =
  (begins: readonly Beginning[]): Beginning =>
  async (stage, progress) => {
    const meanwhile: (() => Promise<void>)[] = [];
    for (const begin of begins) meanwhile.push(await begin(stage, progress));
    return async () => void (await Promise.all(meanwhile.map((act) => act())));
  };

/** More calls than a run has. */
const ALL = 1_000_000;

export type GitHubFault = Parameters<Stage['github']['failNext']>[0];
type ClusterFault = Parameters<Stage['cluster']['failNext']>[0];
type StartAndEnd = Required<Pick<Strike, 'start' | 'end'>>;

/** GitHub answers these calls so. */
export const github = (...faults: readonly GitHubFault[]): StartAndEnd => ({
  start: async (stage) => {
    for (const fault of faults) await stage.github.failNext({ times: ALL, ...fault });
  },
  end: (stage) => stage.github.clearCallFaults(),
});

/** The API server answers these calls so. */
export const cluster = (fault: ClusterFault): StartAndEnd => ({
  start: (stage) => stage.cluster.failNext({ times: ALL, ...fault }),
  end: (stage) => stage.cluster.clearFaults(),
});

/** The same in each environment at once. */
export const each =
  (act: (environment: Environment, stage: Stage) => Promise<unknown>): Act =>
  (stage) =>
    Promise.all(stage.environments.map((environment) => act(environment, stage)));

const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 500;

/** Waits until the condition holds; throws `otherwise` after three minutes. */
export const until =
  (isSo: (stage: Stage) => Promise<boolean>, otherwise: string | (() => string)) =>
  async (stage: Stage): Promise<void> => {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await isSo(stage))) {
      if (performance.now() > deadline)
        throw new Error(typeof otherwise === 'string' ? otherwise : otherwise());
      await sleep(LOOK_EVERY_MS);
    }
  };

/** All jobs of such repositories have run. */
export const haveRun = (isMeant: (repository: string) => boolean): Act =>
  until(
    async ({ github: { truth } }) =>
      (await truth()).jobs.every(({ repo, status }) => !isMeant(repo) || status === 'completed'),
    'The jobs of others have not run while the fault lasted.',
  );

/** `paddock why` of the oldest waiting job of the one that is hit says this. */
export function whySays(hit: Hit, why: RegExp): Act {
  let last = 'GitHub has no queued job of the one that is hit';
  return until(
    async (stage) => {
      last = (await askWhy(stage, hit)) ?? last;
      return why.test(last);
    },
    () => `No answer to why names the cause, ${why}. The last: ${last}`,
  );
}

/** Undefined: none waits. */
async function askWhy(stage: Stage, hit: Hit): Promise<string | undefined> {
  const { jobs } = await stage.github.truth();
  const job = jobs.find(({ repo, status }) => isHit(hit, repo) && status === 'queued');
  if (job === undefined) return undefined;
  const caller = { db: stage.environment.db, person: 'faults', from: 'terminal' } as const;
  const { sentence, advice } = await whyJobEndpoint.answer(caller, { job: job.id });
  return `${sentence} ${advice}`;
}

/** The entity has all the workers that it may have, or all jobs have run. */
export const untilFull = until(async (stage) => {
  const { jobs, completed } = await stage.github.report();
  return completed === jobs || (await readSigns(stage)).environmentsAtCap > 0;
}, 'The first jobs have neither run nor filled the cap of their entity.');

/** An App's or an installation's. A database that is away, as beside other faults, shows none. */
export const hasStoredWait = ({ db }: Environment): Promise<boolean> =>
  sql`
    select from apps where wait_until > now()
    union all
    select from installations where greatest(wait_until, core_wait_until, registrations_reset_at) > now()`
    .execute(db)
    .then(
      ({ rows }) => rows.length > 0,
      (error: unknown) => {
        if (saysAway(error)) return false;
        throw error;
      },
    );

/** A repository's refusal, and no other. */
export async function isRefusalStored(stage: Stage): Promise<void> {
  let held: string[] = [];
  await until(async ({ environments }) => {
    held = (await Promise.all(environments.map(heldBack))).flat();
    return held.length > 0;
  }, 'No refusal is stored although GitHub refuses a repository.')(stage);
  const others = held.filter((type) => type !== 'repository');
  if (others.length > 0)
    throw new Error(`Held back because a repository refuses us: ${others.join(', ')}`);
}

async function heldBack({ db }: Environment): Promise<string[]> {
  const held = await rowsOf<{ type: string }>(db)`
    select service as type from outages
    union all select 'key' from demand_keys where pauses > 0
    union all select 'repository' from repositories where refused_since is not null
    union all select 'installation' from installations where refused_since is not null
    union all select 'app' from apps where refused_since is not null`;
  return held.map(({ type }) => type);
}

/**
 * A service says after 3 s that it is not ready. Statements are given up after 35 s: a service that
 * says so only then does not watch PostgreSQL.
 */
const COMPLAIN_WITHIN_MS = 25_000;

export const untilComplained = ({ name, untilUnready }: Service): Promise<void> =>
  Promise.race([
    untilUnready(),
    sleep(COMPLAIN_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(
        `The ${name} has called itself ready for ${COMPLAIN_WITHIN_MS / 1_000} s without PostgreSQL.`,
      );
    }),
  ]);
