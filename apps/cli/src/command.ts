import { parseArgs } from 'node:util';

export const USAGE = `Usage:
  paddock pools check FILE [--labels A,B] [--json]

Checks a configuration file before you roll it out, without a database, a cluster or secrets. Prints all errors, warnings, and
label sets that fit several pools. With --labels, prints the pool and the pod that a job with these labels would get.

  --labels A,B   the job's labels in runs-on
  --json         one JSON object on one line instead of text

Exit code: 0 if the file is valid, 1 if it is not or no pool serves the labels, 2 if the command is wrong.
`;

export interface PoolsCheckCommand {
  readonly file: string;
  readonly labels: readonly string[] | undefined;
  readonly asJson: boolean;
}

/** Parses the program's arguments. Returns a wrong command as a `problem`. */
export function readCommand(
  words: readonly string[],
): PoolsCheckCommand | { readonly problem: string } | { readonly help: true } {
  const options = {
    labels: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options,
      allowPositionals: true,
    });
    if (values.help === true) return { help: true };
    const [subject, verb, file, ...more] = positionals;
    if (subject !== 'pools' || verb !== 'check')
      return { problem: `There is no command "${positionals.slice(0, 2).join(' ')}".` };
    if (file === undefined || more.length > 0)
      return { problem: `pools check takes one file, and was given ${positionals.length - 2}.` };
    const labels = values.labels?.split(',').map((label) => label.trim());
    if (labels?.includes('') === true)
      return {
        problem: '--labels takes labels with a comma between each two, such as self-hosted,linux.',
      };
    return { file, labels, asJson: values.json === true };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
