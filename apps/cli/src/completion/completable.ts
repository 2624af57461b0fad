import type { Command } from '../command.ts';

/** What may follow the words of a command's name, or of its beginning. */
export interface Place {
  /** As `operations retry`; empty: directly after `paddock`. */
  readonly name: string;
  readonly words: readonly Described[];
  readonly options: readonly (Described & {
    /** Undefined: it takes no value. Empty: it takes any. */
    readonly values: readonly string[] | undefined;
  })[];
  readonly takesFile: boolean;
}

interface Described {
  readonly word: string;
  readonly doc: string;
}

/** Every place at which a command line can go on. */
export function placesOf(commands: readonly Command[]): Place[] {
  const beginnings = commands.flatMap(({ name }) => {
    const parts = name.split(' ');
    return parts.map((_part, n) => parts.slice(0, n).join(' '));
  });
  const names = new Set([...beginnings, ...commands.map(({ name }) => name)]);
  const places = [...names].map((name) => placeOf(name, commands));
  const first = places.find(({ name }) => name === '')?.words ?? [];
  return [...places, { name: HELP.word, words: first, options: [], takesFile: false }];
}

const HELP = { word: 'help', doc: 'Explains a command.' };

function placeOf(name: string, commands: readonly Command[]): Place {
  const command = commands.find((one) => one.name === name);
  const { options = {}, takes = '', words = [] } = command ?? {};
  return {
    name,
    words: [
      ...following(name, commands),
      ...(name === '' ? [HELP] : []),
      ...new Set([...words, ...valuesIn(takes)].map((word) => ({ word, doc: '' }))),
    ],
    options: [
      ...Object.entries(options).map(([option, { value, values = [], doc }]) => ({
        word: `--${option}`,
        doc,
        values: value === undefined ? undefined : values,
      })),
      { word: '--help', doc: HELP.doc, values: undefined },
    ],
    takesFile: takes === 'FILE',
  };
}

/** The next words of longer names. */
function following(name: string, commands: readonly Command[]): Described[] {
  const start = name === '' ? '' : `${name} `;
  const docs = new Map<string, string>();
  for (const { name: longer, summary } of commands) {
    const [next = ''] = longer.startsWith(start) ? longer.slice(start.length).split(' ') : [];
    // What a word alone does says more than what it does with another one.
    if (next !== '' && (longer === start + next || !docs.has(next)))
      docs.set(next, firstSentence(summary));
  }
  return [...docs].map(([word, doc]) => ({ word, doc }));
}

const firstSentence = (text: string): string =>
  /^[^]*?\.(?=\s|$)/.exec(text)?.[0].replaceAll('\n', ' ') ?? text;

/** Of `waiting|running`, or of `NAME|all`, what is to be written so. */
const valuesIn = (text: string): string[] =>
  text.split('|').filter((word) => /^[a-z][a-z-]*$/.test(word));
