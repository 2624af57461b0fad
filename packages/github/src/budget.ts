/** GitHub's newest word on one hourly budget. */
export type RateBudget = {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
};

/** `core` for most calls, `actions_runner_registration` for JIT configs. */
export type RateResource = 'core' | 'actions_runner_registration';

/** The owner of a budget: an installation, or an App that speaks for itself. */
export type RateCaller = { readonly installationId: number } | { readonly appId: number };

/**
 * The newest rate-limit headers of every caller and resource. A budget is unknown before the first
 * answer; an Enterprise Server may never send these headers.
 */
export type RateBudgets = {
  readonly note: (caller: RateCaller, headers: Headers) => void;
  readonly of: (caller: RateCaller, resource?: RateResource) => RateBudget | undefined;
};

type Headers = Readonly<Record<string, string | number | undefined>>;

export function createRateBudgets(): RateBudgets {
  const budgets = new Map<string, RateBudget>();
  return {
    note(caller, headers) {
      const [limit, remaining, reset] = [
        headers['x-ratelimit-limit'],
        headers['x-ratelimit-remaining'],
        headers['x-ratelimit-reset'],
      ].map(Number);
      if (!isFigure(limit) || !isFigure(remaining) || !isFigure(reset)) return;
      const resource = String(headers['x-ratelimit-resource'] ?? 'core');
      budgets.set(keyOf(caller, resource), { limit, remaining, resetAt: reset * 1000 });
    },
    of: (caller, resource = 'core') => budgets.get(keyOf(caller, resource)),
  };
}

function isFigure(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

function keyOf(caller: RateCaller, resource: string): string {
  return 'installationId' in caller
    ? `installation ${caller.installationId} ${resource}`
    : `app ${caller.appId} ${resource}`;
}
