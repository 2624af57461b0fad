import { findUnknownWarmScopes } from '@paddock/db/matching/reserve-workers';
import type { Database } from '@paddock/db/schema/tables';
import type { DeclaredGauges, Metrics } from '@paddock/runtime/metrics';
import type { Kysely } from 'kysely';

const GAUGES = {
  paddock_warm_scopes_unknown: {
    help: 'Configured scopes whose warm workers cannot be made, because Paddock knows no installation or repository there',
  },
} satisfies DeclaredGauges;

/** Gauges that depend on the configured Apps, read from the rows at each scrape. */
export function declareSchedulerGauges(
  metrics: Metrics,
  db: Kysely<Database>,
  apps: { readonly appIds: readonly number[] },
): void {
  metrics.readings(GAUGES, async () => [
    {
      gauge: 'paddock_warm_scopes_unknown',
      labels: {},
      value: (await findUnknownWarmScopes(db, apps.appIds)).length,
    },
  ]);
}
