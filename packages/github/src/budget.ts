/** GitHub's newest word on one hourly budget. */
export type RateBudget = {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
};

/** `core` for most calls, `actions_runner_registration` for JIT configs. */
export type RateResource = 'core' | 'actions_runner_registration';

/**
 * The newest rate-limit headers of every installation and resource. A budget is unknown before the
 * first answer; an Enterprise Server may never send these headers.
 */
export type RateBudgets = {
  readonly note: (installationId: number, headers: Headers) => void;
  readonly of: (installationId: number, resource?: RateResource) => RateBudget | undefined;
};

type Headers = Readonly<Record<string, string | number | undefined>>;

export function createRateBudgets(): RateBudgets {
  const budgets = new Map<string, RateBudget>();
  return {
    note(installationId, headers) {
      const [limit = NaN, remaining = NaN, reset = NaN] = ['limit', 'remaining', 'reset'].map(
        (name) => Number(headers[`x-ratelimit-${name}`]),
      );
      if (![limit, remaining, reset].every(Number.isFinite)) return;
      const resource = String(headers['x-ratelimit-resource'] ?? 'core');
      budgets.set(`${installationId} ${resource}`, { limit, remaining, resetAt: reset * 1000 });
    },
    of: (installationId, resource = 'core') => budgets.get(`${installationId} ${resource}`),
  };
}
