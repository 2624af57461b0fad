import { findSnapshotRivals, planPass } from '../matching/plan-pass.ts';
import { explainWait } from '../why/explain-wait.ts';
import { randomNumbers } from '../why/random-numbers.ts';
import { demandOf, linux, snapshotOf, storedRules } from './snapshot.scene.ts';
import { factsWith, NOW, workerWith } from './wait-facts.scene.ts';

/** A job that comes at an instant, and runs for so long, in seconds. */
export interface LoadedJob {
  readonly key: number;
  readonly at: number;
  readonly runs: number;
}

/** Jobs of keys in the pool `linux`, each of another entity. */
export interface Load {
  readonly jobs: (random: () => number) => readonly LoadedJob[];
  /** maxWorkers of the pool, at a second. */
  readonly cap: (second: number) => number;
  readonly seconds: number;
}

interface Worker {
  readonly name: string;
  readonly key: number;
  readonly reservedAt: number;
  readonly readyAt: number;
  startedAt?: number;
  endsAt?: number;
}

/** What a waiting job was told, in seconds from then, and when it started. */
export interface Told {
  readonly when: 'it comes' | 'it waits';
  readonly sentence: string;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly waited: number;
}

/** How many jobs are asked for as they come, about; and how often for one that waits, in seconds. */
const ASKED = 80;
const ASKED_EVERY = 180;
/** The first hour only makes known how long jobs run. */
const FIRST_ASKED = 3_600;

export const lognormal = (random: () => number, median: number, sigma: number): number =>
  median *
  Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

/**
 * Plays a load second by second with the planner of the matcher. A worker takes about half a minute
 * until it is ready, then the oldest job of its key, and some seconds to end. Asks for jobs as they
 * come, and from time to time for one of those that wait.
 */
export function replay({ jobs, cap, seconds }: Load, seed: number): Told[] {
  const random = randomNumbers(seed);
  const coming = [...jobs(random)].toSorted((a, b) => a.at - b.at);
  const chance = ASKED / coming.length;
  const keys = [...new Set(coming.map(({ key }) => key))];
  const lines = new Map(keys.map((key) => [key, [] as LoadedJob[]]));
  const ended: Worker[] = [];
  const startOf = new Map<LoadedJob, number>();
  const asked: { job: LoadedJob; at: number; told: Omit<Told, 'waited'> }[] = [];
  const reasons = new Map<number, string | null>();
  let live: Worker[] = [];
  const lineOf = (key: number): LoadedJob[] => lines.get(key) ?? [];
  const without = (key: number): Worker[] =>
    live.filter((worker) => worker.key === key && worker.startedAt === undefined);

  function pass(second: number): void {
    const counted = [...Map.groupBy(live, ({ key }) => key)].map(([key, of]) => {
      const { demandKey, entityId, pool } = demandOf(key);
      return { demandKey, entityId, scopeRepoId: 0, pool, alive: of.length };
    });
    const demand = keys.flatMap((key) => {
      const [oldest] = lineOf(key);
      const numbers = { waiting: lineOf(key).length, unassigned: without(key).length };
      return oldest === undefined ? [] : [demandOf(key, { ...numbers, oldest: oldest.at })];
    });
    const rules = storedRules({ pools: [linux({ cap: cap(second) })] });
    const snapshot = snapshotOf({ rules, demand, live: counted });
    const jobTimes = new Map(
      findSnapshotRivals(snapshot).map(({ demandKey, count }) => [
        demandKey,
        lineOf(demandKey)
          .slice(0, count)
          .map(({ at }) => at),
      ]),
    );
    const { make, states } = planPass({ ...snapshot, jobTimes }, {});
    for (const { demandKey, waitReason } of states) reasons.set(demandKey, waitReason);
    for (const { demandKey: key, count } of make) {
      for (let made = 0; made < count; made += 1) {
        const readyAt = second + 5 + lognormal(random, 30, 0.35);
        live.push({ name: `${key}-${second}-${made}`, key, reservedAt: second, readyAt });
      }
    }
  }

  function ask(when: Told['when'], job: LoadedJob, second: number): void {
    const line = lineOf(job.key);
    if (second < FIRST_ASKED || !line.includes(job)) return;
    const at = (played: number): Date => new Date(NOW.getTime() + (played - second) * 1_000);
    const own = [...ended.slice(-200), ...live].filter(({ key }) => key === job.key);
    const { estimate } = explainWait(
      factsWith({
        reason: reasons.get(job.key) ?? undefined,
        place: {
          position: line.indexOf(job) + 1,
          of: line.length,
          olderOfEntity: 0,
          olderOfPool: 0,
        },
        workers: without(job.key).map(({ name, reservedAt }) =>
          workerWith({ name, createdAt: at(reservedAt) }),
        ),
        caps: [{ kind: 'at_pool_cap', name: 'the cap', used: live.length, limit: cap(second) }],
        starts: own.flatMap(({ reservedAt, startedAt, endsAt }) =>
          startedAt === undefined || endsAt === undefined
            ? []
            : [
                {
                  reservedAt: at(reservedAt),
                  startedAt: at(startedAt),
                  endedAt: endsAt <= second ? at(endsAt) : null,
                },
              ],
        ),
      }),
    );
    if (estimate === null) return;
    const [p50, p90] = [estimate.p50Ms, estimate.p90Ms].map((ms) => ms && ms / 1_000);
    const { sentence } = estimate;
    asked.push({ job, at: second, told: { when, sentence, p50: p50 ?? null, p90: p90 ?? null } });
  }

  for (let second = 0; second < seconds; second += 1) {
    const arrived: LoadedJob[] = [];
    for (let next = coming[0]; next !== undefined && next.at <= second; next = coming[0]) {
      coming.shift();
      lineOf(next.key).push(next);
      arrived.push(next);
    }
    const gone = live.filter(({ endsAt = Infinity }) => endsAt <= second);
    ended.push(...gone);
    live = live.filter((worker) => !gone.includes(worker));
    for (const worker of live) {
      const job =
        worker.startedAt === undefined && worker.readyAt <= second && lineOf(worker.key).shift();
      if (!job) continue;
      startOf.set(job, second);
      Object.assign(worker, { startedAt: second, endsAt: second + job.runs + 3 + 7 * random() });
    }
    if (arrived.length > 0 || gone.length > 0 || second % 30 === 0) pass(second);
    for (const job of arrived) if (random() < chance) ask('it comes', job, second);
    if (second % ASKED_EVERY > 0) continue;
    const waiting = keys.flatMap(lineOf);
    const one = waiting[Math.floor(random() * waiting.length)];
    if (one !== undefined) ask('it waits', one, second);
  }
  return asked.flatMap(({ job, at, told }) => {
    const start = startOf.get(job);
    return start === undefined ? [] : [{ ...told, waited: start - at }];
  });
}
