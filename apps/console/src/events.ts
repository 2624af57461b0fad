import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { createSamples } from '@paddock/runtime/samples';
import type { Answered } from './http/answer.ts';

/** The console's events: each function moves the metric and writes the log line of one event. */
export interface ConsoleEvents {
  answered(answered: Answered & { readonly ms: number }): void;
  connectionsCut(reason: string): void;
  pageMissing(): void;
  /** Pages are not told of changes meanwhile. */
  lookFailed(error: unknown): void;
}

/** From a read by an index to the longest statements. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createConsoleEvents(log: Logger, metrics: Metrics): ConsoleEvents {
  const requests = metrics.counter(
    'paddock_api_requests_total',
    'Requests answered, by endpoint and status; `none` is no endpoint that the token may call',
    ['endpoint', 'status'],
  );
  const seconds = metrics.histogram(
    'paddock_api_request_seconds',
    'From a request to its answer, by endpoint',
    BUCKETS,
    ['endpoint'],
  );
  const sample = createSamples();
  return {
    answered({ reply: { status }, endpoint, person, error, ms }) {
      const name = endpoint?.name ?? 'none';
      requests.inc({ endpoint: name, status: String(status) });
      seconds.observe({ endpoint: name }, ms / 1_000);
      const fields = { endpoint: name, status, person, ms: Math.round(ms) };
      // Never the path or the query: a caller may put a secret there by mistake.
      if (error !== undefined) {
        // Anyone can send a token that has to be looked up while the database is away.
        const sampled = person === undefined ? sample('no person') : {};
        if (sampled !== undefined) log.error('an answer failed', { ...fields, ...sampled, error });
      } else if (endpoint?.access === 'operate') log.info('a person acted', fields);
      else log.debug('answered', fields);
    },
    pageMissing: () =>
      log.warn('the page has not been built, so only the API is there; run `pnpm build console`'),
    lookFailed(error) {
      const sampled = sample('look');
      if (sampled !== undefined) log.warn('a look for changes failed', { ...sampled, error });
    },
    connectionsCut: (reason) => log.warn('closed connections to PostgreSQL', { reason }),
  };
}
