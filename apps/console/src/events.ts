import { createSamples, type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { Answered } from './http/answer.ts';

const TABLE = {
  answered: (fields: object) => line.debug('answered', fields),
  personActed: (fields: object) => line.info('a person acted', fields),
  answerFailed: (fields: object) => line.error('an answer failed', fields),
  pageMissing: () =>
    line.warn('the page is not built: only the API is there; run `npx -y pnpm@12 build console`'),
  signInChanged: () => line.info('the changed file about signing in is in use'),
  signInRefused: (problems: readonly string[]) =>
    line.error(
      'the changed file about signing in is refused: what was read before stays in use until you mend it',
      { problems },
    ),
  /** Pages are not told of changes meanwhile. */
  lookFailed: (error: unknown) => line.warn('a look for changes failed', { error }),
};

export type ConsoleEvents = ReturnType<typeof createConsoleEvents>;

/** From a read by an index to the longest statements. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The console's events. Each function writes the log line of one event and moves its metrics. */
export function createConsoleEvents(log: EventLog, metrics: Metrics) {
  const events = tellEvents(TABLE, { log, metrics });
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
    ...events,
    answered({ reply, endpoint, person, error, ms }: Answered & { readonly ms: number }) {
      const { status } = reply;
      const name = endpoint?.name ?? 'none';
      requests.inc({ endpoint: name, status: String(status) });
      seconds.observe({ endpoint: name }, ms / 1_000);
      const fields = { endpoint: name, status, person, ms: Math.round(ms) };
      // Never the path or the query: a caller may put a secret there by mistake.
      if (error !== undefined) {
        // Anyone can send a token that has to be looked up while the database is away.
        const sampled = person === undefined ? sample('no person') : {};
        if (sampled !== undefined) events.answerFailed({ ...fields, ...sampled, error });
      } else events[endpoint?.access === 'operate' ? 'personActed' : 'answered'](fields);
    },
  };
}
