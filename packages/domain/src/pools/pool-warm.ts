import { z } from 'zod';

const SCOPE = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\/[A-Za-z0-9._-]{1,100})?$/;

/** How many workers of a pool stay idle, by the scope where they register. */
export const warm = z
  .array(
    z.strictObject({
      scope: z
        .string()
        .regex(SCOPE, 'must be an organization, or a repository as owner/name')
        .describe(
          'Where they register: an organization, or owner/name where runners register at repositories.',
        ),
      workers: z.int().min(1).max(1_000).describe('How many are idle while no job waits for one.'),
    }),
  )
  .refine(
    (list) => new Set(list.map(({ scope }) => scope.toLowerCase())).size === list.length,
    'names the same scope twice',
  );
