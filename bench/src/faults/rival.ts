import { setTimeout as sleep } from 'node:timers/promises';
import { onlyRowOf } from '@paddock/db/rows';
import type { Stage } from '../stage/stage.ts';
import type { Fault, Progress } from './fault.ts';

const LOOK_EVERY_MS = 500;
/** Of the workers that another controller leaves without a job. */
const MOST_PER_LOST_RACE = 1.1;
const GONE_WITHIN_S = 180;

/**
 * A second controller stands under the same label, and GitHub gives half of the jobs to its
 * runners. No key may pause for that, and spare workers must go soon.
 */
export const RIVAL: Fault = {
  name: 'another-controller',
  signs: { jobsTaken: 1 },
  // Some of its runners come too late.
  rivalRate: 0.6,
  atUsualTimes: true,
  begin: (stage, progress) => Promise.resolve(() => watchRace(stage, progress)),
};

async function watchRace(stage: Stage, progress: Progress): Promise<void> {
  const paused = new Set<string>();
  for (
    let seen = await look(stage);
    progress.share() < 1 || seen.live > 0;
    seen = await look(stage)
  ) {
    for (const key of seen.paused) paused.add(key);
    await sleep(LOOK_EVERY_MS);
  }
  const { idle, longest } = await look(stage);
  const { struck } = await stage.github.report();
  const problems = [
    paused.size > 0 ? `keys were paused: ${[...paused].join(', ')}` : [],
    idle > Math.ceil((struck.job_taken ?? 0) * MOST_PER_LOST_RACE)
      ? `${idle} workers had no job, and another controller took ${struck.job_taken ?? 0} jobs`
      : [],
    longest > GONE_WITHIN_S ? `a worker without a job was there for ${longest} s` : [],
  ].flat();
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** The live workers, those that ended without a job and the longest life of one, and paused keys. */
const look = ({ environment: { db } }: Stage) =>
  onlyRowOf<{ live: number; idle: number; longest: number; paused: string[] }>(db)`
    select count(*) filter (where completed_at is null)::int as live,
      count(*) filter (where assigned_at is null and completed_at is not null)::int as idle,
      coalesce(max(extract(epoch from completed_at - created_at)) filter (where assigned_at is null), 0)::int as longest,
      array(select concat(k8s_pool, ' (', failure_class, ')') from demand_keys where pauses > 0) as paused
    from workers`;
