import { RootCommand, script, ShellCompDirective } from '@bomb.sh/tab';
import { type Command, WrongUsage } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];

export const completion: Command = {
  name: 'completion',
  takes: SHELLS.join('|'),
  summary: `Prints what a shell needs to complete the words of \`paddock\`.
bash and zsh: source <(paddock completion bash). fish: paddock completion fish | source.`,
  options: {},
  run({ words: [shell = ''] }) {
    if (!SHELLS.includes(shell)) throw new WrongUsage(`The shell is one of ${SHELLS.join(', ')}.`);
    script(shell, 'paddock', 'paddock'); // prints it
    return { code: 0, stdout: '', stderr: '' };
  },
};

/**
 * Prints what may follow, in the form that the shells' scripts read.
 *
 * @param words What a person has written after `paddock`, up to the cursor.
 */
export function printWords(commands: readonly Command[], words: readonly string[]): void {
  const before = words.slice(0, -1).join(' ');
  const takesFile = commands.some(
    ({ name, takes }) => /^\[?FILE(?:\.\.\.)?\]?$/.test(takes) && name === before,
  );
  if (takesFile && words.at(-1)?.startsWith('-') !== true) {
    process.stdout.write(`:${ShellCompDirective.ShellCompDirectiveDefault}\n`);
    return;
  }
  const root = new RootCommand();
  for (const { name, takes, words: given = [], summary, options } of commands) {
    const command = root.command(name, summary.replaceAll('\n', ' '));
    if (takes !== '') command.argument(takes, offer([...new Set([...given, ...wordsIn(takes)])]));
    for (const [option, { value, values = [], doc }] of Object.entries(options))
      if (value === undefined) command.option(option, doc);
      else command.option(option, doc, offer(values));
  }
  root.parse([...words]);
}

const offer =
  (words: readonly string[]) =>
  (complete: (word: string, doc: string) => void): void => {
    for (const word of words) complete(word, '');
  };

/** Of `waiting|running`, or of `NAME|all`, what is to be written so. */
const wordsIn = (takes: string): string[] =>
  takes.split('|').filter((word) => /^[a-z][a-z-]*$/.test(word));
