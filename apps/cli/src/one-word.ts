import { type Given, WrongUsage } from './command.ts';

/** The one word that a command takes. */
export function oneWord({ words }: Given, what: string): string {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0)
    throw new WrongUsage(`It takes one ${what}, and was given ${words.length}.`);
  return word;
}
