import { describeIssues } from '@paddock/domain/deliveries/payload-fields';
import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { UnusableAnswerError } from './errors.ts';

/**
 * Calls GitHub, and reads from its answer what the schema names. Throws what Octokit throws, and an
 * UnusableAnswerError that says what is wrong: something between us and GitHub may answer anything,
 * and a field that is missing must not read as “no” or “none”.
 */
export async function ask<T>(
  octokit: Octokit,
  route: string,
  schema: z.ZodType<T>,
  given: Readonly<Record<string, unknown>> = {},
) {
  const { data, headers } = await octokit.request(route, given);
  const read = schema.safeParse(data);
  if (read.success) return { data: read.data, headers };
  throw new UnusableAnswerError(describeIssues(read.error), octokit.request.endpoint(route, given));
}

/** How many items a list has, on all pages. */
export const total = z.int().nonnegative();

/** The object that was asked for, by its id, and no other. */
export const isThat = <T extends { readonly id: number }>(schema: z.ZodType<T>, id: number) =>
  schema.refine((one) => one.id === id, { path: ['id'], error: `it is not ${id}` });
