import type { Octokit } from '@octokit/rest';

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

export type RateBudgets = ReturnType<typeof createRateBudgets>;

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
      // Not every number of seconds is an instant, and PostgreSQL knows none of the Stone Age.
      const resetAt = new Date(reset < 0 ? NaN : reset * 1000).getTime();
      if (![limit, remaining, resetAt].every(Number.isFinite)) return;
      const resource = String(headers['x-ratelimit-resource'] ?? 'core');
      const left = Math.max(0, Math.floor(remaining));
      budgets.set(`${caller} ${resource}`, { limit, remaining: left, resetAt });
    },
    of: (caller: BudgetOwner, resource: RateResource = 'core') =>
      budgets.get(`${caller} ${resource}`),
  };
}

/** What GitHub says of an installation's budgets, by a call that counts against none. */
export async function readBudgets(
  octokit: Octokit,
): Promise<Partial<Record<RateResource, RateBudget>>> {
  const { resources } = (await octokit.rest.rateLimit.get()).data;
  return Object.fromEntries(
    RESOURCES.flatMap((resource) => {
      const budget = resources[resource];
      return budget === undefined ? [] : [[resource, { ...budget, resetAt: budget.reset * 1000 }]];
    }),
  );
}
