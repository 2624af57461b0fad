import { stringify } from 'yaml';
import { checkPools, isGood, type PoolsCheck } from './check-pools.ts';
import { type Command, JSON_OPTION, WrongUsage } from './command.ts';

/** Needs neither a database nor a cluster nor secrets. */
export const poolsCheck: Command = {
  name: 'pools check',
  takes: 'FILE',
  summary: `Checks a configuration file before you roll it out, without a database, a cluster or secrets.
Prints all errors, warnings, and label sets that fit several pools. With --labels, prints the pool
and the pod that a job with these labels would get. No pool for them is exit code 1.`,
  options: {
    labels: { value: 'A,B', doc: 'The job’s labels in runs-on' },
    json: JSON_OPTION,
  },
  run({ words: [file = ''], options }) {
    const check = checkPools(file, readLabels(options['labels']));
    return {
      code: isGood(check) ? 0 : 1,
      stdout: options['json'] === true ? `${JSON.stringify(check)}\n` : describeCheck(check),
      stderr: '',
    };
  },
};

function readLabels(given: string | boolean | undefined): readonly string[] | undefined {
  if (typeof given !== 'string') return undefined;
  const labels = given.split(',').map((label) => label.trim());
  if (labels.includes(''))
    throw new WrongUsage(
      '--labels takes labels with a comma between each two, such as self-hosted,linux.',
    );
  return labels;
}

/**
 * The check as text. Lines before a pod are YAML comments, so that `kubectl create -f -` takes it
 * all.
 */
function describeCheck({ file, problems, pools, warnings, shared, job }: PoolsCheck): string {
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
