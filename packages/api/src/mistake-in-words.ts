import type { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be text',
  int: 'must be a whole number',
  number: 'must be a number',
  boolean: 'must be true or false',
  object: 'must be an object',
  record: 'must be an object',
  array: 'must be a list',
};

/**
 * A mistake of an input for people, to stand behind its place: `must be at most 100`. The issue is
 * one of a parse with `reportInput`, else a missing value is called one of a wrong type.
 */
export function mistakeInWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return 'input' in issue && issue.input === undefined
        ? 'is missing'
        : (TYPES[issue.expected] ?? issue.message);
    case 'too_small':
      if (issue.origin === 'string')
        return issue.minimum === 1
          ? 'must not be empty'
          : `must have at least ${issue.minimum} characters`;
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return ['guid', 'uuid'].includes(issue.format) ? 'must be a GUID' : issue.message;
    case 'unrecognized_keys':
      return `is unknown: ${issue.keys.join(', ')}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    default:
      return issue.message;
  }
}
