import type { WorkerRow } from '../answers.ts';
import type { Tone } from '../parts/chip.tsx';

const TONES: Readonly<Record<WorkerRow['state'], Tone>> = {
  pending: 'wait',
  running: 'busy',
  stopping: 'over',
  ended: 'good',
  failed: 'bad',
};

/** A worker’s state in a word: a running one is idle until it has a job. */
export function stateOf(worker: WorkerRow): { word: string; tone: Tone } {
  if (worker.state === 'pending' && worker.stuck !== null) return { word: 'stuck', tone: 'bad' };
  if (worker.state === 'running')
    return worker.job === null ? { word: 'idle', tone: 'good' } : { word: 'busy', tone: 'busy' };
  return { word: worker.state, tone: TONES[worker.state] };
}

/** Why it is as it is, shortly; empty: there is nothing to say. */
export const remarkOf = ({ failure, stuck, stop }: WorkerRow): string =>
  failure ?? stuck?.reason.replaceAll('_', ' ') ?? stop?.reason.replaceAll('_', ' ') ?? '';
