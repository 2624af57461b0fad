import { giveUpRedeliveries, rememberLostDeliveries } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** What a stranger may have named a job, to see what a page makes of it. */
export const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title=1</script>"\'&lt;\u202Egnp';

export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** GUIDs of deliveries: one that came twice, one that did not come. */
export const CAME = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
export const MISSING = '1b989ba4-242f-11e5-81e1-000000000000';

/** What GitHub delivered, what it could not, and what it no longer can. */
export async function putDeliveries(db: Kysely<Database>, hostile: number): Promise<string> {
  const about = { app_id: 1001, entity_id: 90_000_001, installation_id: 51_000_001 };
  const payload = JSON.stringify({ action: 'queued', workflow_job: { name: HOSTILE } });
  const acme = { id: 51_000_001, account: { id: 90_000_001, login: 'acme', type: 'Organization' } };
  const named = (n: number) => ({ id: 780_000_000 + n, full_name: `acme/${['web', HOSTILE][n]}` });
  const came = {
    ...about,
    source: 'webhook' as const,
    event: 'workflow_job.queued',
    job_id: hostile,
    repo_id: 780_000_001,
    delivery_guid: CAME,
    payload,
  };
  const rows = await db
    .insertInto('installation_events')
    .values([
      {
        ...about,
        source: 'webhook',
        event: 'installation.created',
        outcome: 'ok',
        delivery_guid: '3b989ba4-242f-11e5-81e1-000000000000',
        payload: JSON.stringify({
          action: 'created',
          installation: { ...acme, repository_selection: 'selected' },
          repositories: [named(0), named(1)],
        }),
        received_at: ago(9_000),
      },
      { ...came, outcome: 'job_stored', received_at: ago(1) },
      { ...came, outcome: 'duplicate_delivery', received_at: ago(0.5) },
    ])
    .returning('id')
    .execute();
  for (const [minutes, many] of [
    [4_400, 2],
    [30, 5],
  ] as const) {
    await rememberLostDeliveries(
      db,
      1001,
      Array.from({ length: many }, (_, n) => ({
        guid: minutes === 30 ? MISSING.replace(/0$/, String(n)) : `gone-${n}`,
        deliveryId: String(9_007_199_254_740_993n + BigInt(n)),
        event: n === 1 ? HOSTILE : 'workflow_job',
        action: 'queued',
        installationId: 51_000_001,
        repositoryId: 780_000_001,
        firstFailedAt: ago(minutes),
        lastFailedAt: ago(minutes - 20),
        lastStatusCode: n === 0 ? 0 : 502,
        isDelivered: false,
      })),
      { isAsked: false },
    );
    if (minutes !== 30) await giveUpRedeliveries(db, 1001, 0);
  }
  return String(rows[1]?.id);
}
