import { z } from 'zod';

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
