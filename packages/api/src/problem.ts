import { z } from 'zod';

/** For the caller to mend (RFC 9457). Tells of nothing that the caller may not see. */
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
