import type { PoolHour } from '../answers.ts';
import { greatest, inWords, lineOf } from './last-hour.ts';

/**
 * Workers as an area and waiting jobs as a line, in the size of a word. Two paths of our own: a
 * library of charts for each row of the board would be most of the page’s weight.
 */
export function Sparkline({ hour }: { hour: PoolHour | undefined }) {
  if (hour === undefined) return <span class="quiet">–</span>;
  const most = greatest(hour.waiting, hour.workers);
  const workers = lineOf(hour.workers, most);
  const from = hour.workers.findIndex((value) => value !== null);
  return (
    <span title={inWords(hour)}>
      <span class="unseen">{inWords(hour)}</span>
      <svg class="spark" viewBox="0 0 60 20" preserveAspectRatio="none" aria-hidden="true">
        {from >= 0 && <path class="area" d={`${workers}L60 20L${from} 20Z`} />}
        <path class="line" d={lineOf(hour.waiting, most)} />
      </svg>
    </span>
  );
}
