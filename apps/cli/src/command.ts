import { parseArgs } from 'node:util';

export const USAGE = `Usage:
  paddock pools check FILE [--labels A,B] [--json]

Checks a configuration file before it is rolled out; needs no database, no cluster and no secret. It tells everything that is wrong
in the file and which label sets fit several pools. With --labels it shows the pool and the pod that a job of these labels would get.

  --labels A,B   what the job asks for in runs-on
  --json         one JSON object on one line instead of text

Exit code: 0 if all is well, 1 if the file cannot be used or no pool serves the labels, 2 if the command is wrong.
`;

export interface PoolsCheckCommand {
  readonly file: string;
  readonly labels: readonly string[] | undefined;
  readonly asJson: boolean;
}

/** Reads the words behind the program's name. A wrong command is a value, with what is wrong with it. */
export function readCommand(words: readonly string[]): PoolsCheckCommand | { readonly problem: string } | { readonly help: true } {
  const options = { labels: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    if (values.help === true) return { help: true };
    const [subject, verb, file, ...more] = positionals;
    if (subject !== 'pools' || verb !== 'check') return { problem: `There is no command "${positionals.slice(0, 2).join(' ')}".` };
    if (file === undefined || more.length > 0) return { problem: `pools check takes one file, and was given ${positionals.length - 2}.` };
    const labels = values.labels?.split(',').map((label) => label.trim());
    if (labels?.includes('') === true)
      return { problem: '--labels takes labels with a comma between each two, such as self-hosted,linux.' };
    return { file, labels, asJson: values.json === true };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
