import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { readAnswer } from './read-answers.ts';
import { LONGEST_WAIT_MS, untilReset } from './waits.ts';

/** GitHub's newest word on one hourly budget. */
export type RateBudget = {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
};

/** `core` for most calls, `actions_runner_registration` for JIT configs. */
export type RateResource = (typeof RESOURCES)[number];

const RESOURCES = ['core', 'actions_runner_registration'] as const;

/** An installation by its id, or an App that speaks for itself. */
export type BudgetOwner = number | `app ${number}`;

type Headers = Readonly<Record<string, string | number | undefined>>;

/**
 * The newest rate-limit headers of every caller and resource. A budget is unknown before the
 * first answer; an Enterprise Server may never send these headers.
 */
export function createRateBudgets() {
  const budgets = new Map<string, RateBudget>();
  return {
    note(caller: BudgetOwner, headers: Headers) {
      const [limit = NaN, remaining = NaN, reset = NaN] = ['limit', 'remaining', 'reset'].map(
        (name) => Number(headers[`x-ratelimit-${name}`]),
      );
      // The budget of the latest instant counts, so an odd one would count for ever.
      const resetMs = untilReset(headers, Date.now()) ?? Infinity;
      if (![limit, remaining].every(Number.isFinite) || resetMs > 2 * LONGEST_WAIT_MS) return;
      const resetAt = reset * 1000;
      const resource = String(headers['x-ratelimit-resource'] ?? 'core');
      const left = Math.max(0, Math.floor(remaining));
      budgets.set(`${caller} ${resource}`, { limit, remaining: left, resetAt });
    },
    of: (caller: BudgetOwner, resource: RateResource = 'core') =>
      budgets.get(`${caller} ${resource}`),
  };
}

const budget = z
  .object({ limit: z.number(), remaining: z.number(), reset: z.int().min(0).max(253_402_300_799) })
  .transform(({ reset, ...of }) => ({ ...of, resetAt: reset * 1000 }));
const rateLimits = z.object({
  resources: z.object({
    core: budget.optional(),
    actions_runner_registration: budget.optional(),
  } satisfies Record<RateResource, unknown>),
});

/** What GitHub says of an installation's budgets, by a call that counts against none. */
export async function readBudgets(
  octokit: Octokit,
): Promise<Partial<Record<RateResource, RateBudget>>> {
  const { resources } = readAnswer(await octokit.rest.rateLimit.get(), rateLimits).data;
  return Object.fromEntries(Object.entries(resources).filter(([, named]) => named !== undefined));
}
