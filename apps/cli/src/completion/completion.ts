import { type Command, WrongUsage } from '../command.ts';
import { bashCompletion } from './bash.ts';
import { placesOf } from './completable.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const SHELLS = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
]);

/** `all` gives the commands that are completed, this one among them. */
export const completion = (all: () => readonly Command[]): Command => ({
  name: 'completion',
  takes: [...SHELLS.keys()].join('|'),
  summary: `Prints what a shell needs to complete the words of \`paddock\`.
bash and zsh: source <(paddock completion bash). fish: paddock completion fish | source.`,
  options: {},
  run({ words: [shell = ''] }) {
    const script = SHELLS.get(shell);
    if (script === undefined)
      throw new WrongUsage(`The shell is one of ${[...SHELLS.keys()].join(', ')}.`);
    return { code: 0, stdout: script(placesOf(all())), stderr: '' };
  },
});
