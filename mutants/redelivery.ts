import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const redelivery: readonly NamedMutant[] = [
  {
    mutant: 'the log counts as read before its failures are remembered',
    file: 'apps/reconciler/src/redelivery/redeliver.ts',
    find: `  const { failed, resolved, isReturn } = await noteVerdict(db, appId, reading.attempts);
`,
    replace: `  if (!dryRun) await db.transaction().execute((trx) => replaceListedSpans(trx, appId, reading.spans));
  const { failed, resolved, isReturn } = await noteVerdict(db, appId, reading.attempts);
`,
    tests: ['apps/reconciler/src/redelivery/redeliver-faults.db.test.ts'],
  },
  {
    mutant: 'the oldest attempt of a delivery is asked for, not the newest',
    file: 'apps/reconciler/src/redelivery/judge-delivery-log.ts',
    find: `deliveryId: newest.id,`,
    replace: `deliveryId: oldest.id,`,
    tests: ['apps/reconciler/src/redelivery/judge-delivery-log.test.ts'],
  },
  {
    mutant: 'a redirect counts as delivered',
    file: 'apps/reconciler/src/redelivery/judge-delivery-log.ts',
    find: `(statusCode >= 200 && statusCode < 300)`,
    replace: `(statusCode >= 200 && statusCode < 400)`,
    tests: ['apps/reconciler/src/redelivery/judge-delivery-log.test.ts'],
  },
  {
    mutant: 'when two attempts have the same second, the first is asked for again',
    file: 'packages/db/src/deliveries/redelivery.ts',
    find: `(excluded.last_failed_at, excluded.delivery_id) > (known.last_failed_at, known.delivery_id)`,
    replace: `excluded.last_failed_at > known.last_failed_at`,
    tests: ['apps/reconciler/src/redelivery/redeliver.db.test.ts'],
  },
  {
    mutant: 'each pass may ask for as many deliveries as one minute allows',
    file: 'packages/db/src/deliveries/redelivery.ts',
    find: `where app_id = \${appId} and last_requested_at > now() - interval '1 minute'))\``,
    replace: `where app_id = \${appId} and last_requested_at > now() + interval '1 minute'))\``,
    tests: ['apps/reconciler/src/redelivery/redeliver.db.test.ts'],
  },
  {
    mutant: 'a delivery is given up a while after its last failure, not its first',
    file: 'packages/db/src/deliveries/give-up-redeliveries.ts',
    find: `resolved_at is null and first_failed_at < now()`,
    replace: `resolved_at is null and last_failed_at < now()`,
    tests: ['apps/reconciler/src/redelivery/redeliver.db.test.ts'],
  },
  {
    mutant: 'no discovery is asked for repositories of given-up deliveries',
    file: 'packages/db/src/deliveries/give-up-redeliveries.ts',
    find: `handed_over as (\${handOverToDiscovery('given_up')})`,
    replace: `handed_over as (select)`,
    tests: ['apps/reconciler/src/redelivery/redeliver-since.db.test.ts'],
  },
  {
    mutant: 'a delivery counts as arrived because GitHub says so',
    file: 'packages/db/src/deliveries/redelivery.ts',
    find: `(guid = any(\${delivered}::text[]) and not missing_here)`,
    replace: `(guid = any(\${delivered}::text[]))`,
    tests: ['apps/reconciler/src/redelivery/redeliver-since.db.test.ts'],
  },
  {
    mutant: 'a request that GitHub’s limit refused counts as made',
    file: 'apps/reconciler/src/redelivery/request-due-deliveries.ts',
    find: `failure.kind === 'invalid' || failure.kind === 'not_found'`,
    replace: `failure.kind !== 'network'`,
    tests: ['apps/reconciler/src/redelivery/redeliver-faults.db.test.ts'],
  },
  {
    mutant: 'a gap is forgotten when its cursor is refused once',
    file: 'apps/reconciler/src/redelivery/read-delivery-log.ts',
    find: `if (cursor !== undefined && isCursorRefused(error))`,
    replace: `if (cursor !== undefined) `,
    tests: ['apps/reconciler/src/redelivery/read-delivery-log.test.ts'],
  },
];
