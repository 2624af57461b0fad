import { stringify } from 'yaml';
import type { PoolsCheck } from './check-pools.ts';

/**
 * The check as text. Lines before a pod are YAML comments, so that `kubectl create -f -` takes it
 * all.
 */
export function describeCheck({
  file,
  problems,
  pools,
  warnings,
  shared,
  job,
}: PoolsCheck): string {
  const lines =
    problems.length > 0
      ? [`${file} cannot be used:`, ...problems.map((problem) => `  - ${problem}`)]
      : [
          `${file} can be used; it has ${pools.length} ${pools.length === 1 ? 'pool' : 'pools'}.`,
          ...warnings,
          ...shared.map(
            ({ labels, pools: [first, ...others] }) =>
              `Jobs with the labels ${labels.join(', ')} go to ${first}; they fit ${others.join(', ')} too.`,
          ),
        ];
  if (job === undefined) return `${lines.join('\n')}\n`;
  const labels = job.labels.join(', ');
  if (job.pod === null)
    return [
      ...lines,
      `No pool serves a job with the labels ${labels}: none has all of them.`,
      '',
    ].join('\n');
  const comments = [
    ...lines,
    `A job with the labels ${labels} goes to ${job.pool}, in a pod like this:`,
  ].map((line) => `# ${line}`);
  return `${comments.join('\n')}\n${stringify(job.pod, { lineWidth: 0 })}`;
}
