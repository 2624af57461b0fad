import { z } from 'zod';

/**
 * Describes the problem of a value in the words of someone who writes YAML. Does not show the
 * value: it may be a secret at the wrong place.
 */
export function sayWhatIsWanted(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue;
  if (code === 'invalid_type')
    return input === undefined ? 'is missing' : wantedType(String(issue.expected), input);
  if (code === 'invalid_value') return `must be ${issue.values.map(String).join(' or ')}`;
  if (code === 'too_small' && issue.origin === 'string' && issue.minimum === 1)
    return 'must not be empty';
  if (code === 'too_small') return `must ${AMOUNT[issue.origin] ?? 'be'} at least ${issue.minimum}`;
  return code === 'too_big'
    ? `must ${AMOUNT[issue.origin] ?? 'be'} at most ${issue.maximum}`
    : undefined;
}

const AMOUNT: Readonly<Record<string, string>> = {
  string: 'have a length of',
  array: 'have a length of',
};

function wantedType(expected: string, input: unknown): string | undefined {
  const wanted = TYPES.get(expected);
  if (wanted === undefined) return undefined;
  if (expected === 'int' && typeof input === 'number') return `must be ${wanted}`;
  return `must be ${wanted}, and is ${TYPES.get(z.util.getParsedType(input)) ?? 'empty'}${quotesToMend(expected, input)}`;
}

/** YAML reads 1.20 as a number and "5" as text: the quotes are the mistake. */
function quotesToMend(expected: string, input: unknown): string {
  if (expected === 'string')
    return typeof input === 'number' || typeof input === 'boolean' ? ': put it in quotes' : '';
  if (typeof input !== 'string') return '';
  const isMeant =
    expected === 'boolean' ? /^(?:true|false)$/.test(input) : /^-?\d+(?:\.\d+)?$/.test(input);
  return isMeant ? ': leave out the quotes' : '';
}

/** The library's names of types are a programmer's words. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
]);
