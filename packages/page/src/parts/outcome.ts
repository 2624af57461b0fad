import type { AnswerOf } from '../answers.ts';
import { plain } from '../text/words.ts';

export const howFailed = (reason: string): string => HOW.get(reason) ?? plain(reason);

const HOW = new Map([
  ['poison', 'cannot be done'],
  ['attempts', 'out of attempts'],
  ['crashes', 'broken off too often'],
  ['timeout', 'timed out'],
]);

export type Standing = Pick<
  AnswerOf<'findOperation'>,
  'status' | 'waitsFor' | 'failure' | 'output'
>;

/** Where an operation stands, or how it ended, in a sentence. */
export function outcomeOf({ status, waitsFor, failure, output }: Standing): string {
  if (status === 'QUEUED') return `It waits for ${waitsFor ?? 'its turn'}.`;
  if (status === 'RUNNING') return 'It runs.';
  if (failure !== null) return `It failed, ${howFailed(failure.reason)}: ${failure.message}`;
  const counts = Object.entries(output ?? {}).flatMap(([name, value]) =>
    ['number', 'string'].includes(typeof value) ? [`${plain(name)} ${value}`] : [],
  );
  return `It is done${counts.length === 0 ? '' : `: ${counts.join(', ')}`}.`;
}

/** The operation that this one became a part of; undefined: it is one of its own. */
export const mergedInto = ({
  output,
}: Pick<AnswerOf<'findOperation'>, 'output'>): string | undefined =>
  (output as { readonly mergedInto?: string } | null)?.mergedInto;
