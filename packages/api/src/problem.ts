import { z } from 'zod';

/**
 * Why a request was not done, for the caller to mend (RFC 9457). It never says whether something
 * exists that the caller may not see.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: 400 | 404 | 409;
  readonly title: string;
  /** A sentence: what was asked for, and what to do. */
  readonly detail: string;

  constructor(status: Problem['status'], title: string, detail: string) {
    super(`${title}: ${detail}`);
    this.status = status;
    this.title = title;
    this.detail = detail;
  }
}

/** The subject is unknown, or its rows have expired. */
export const notFound = (detail: string): Problem => new Problem(404, 'Not found', detail);

/** The subject's state forbids it now. */
export const refused = (detail: string): Problem => new Problem(409, 'Refused', detail);

/** The input fits its schema, and still makes no sense. */
export const wrong = (detail: string): Problem => new Problem(400, 'Wrong input', detail);

/** How the API answers a mistake. */
export const problemDetails = z
  .looseObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong, and what to do'),
    errors: z
      .array(z.object({ place: z.string().describe('As `query.limit`'), message: z.string() }))
      .optional()
      .describe('Each mistake of the input'),
  })
  .describe('RFC 9457');

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
