import pg from 'pg';
import { postgresCpuSeconds } from '../cpu-time.ts';
import { APP_ID } from '../programs.ts';
import { type Contender, MOST_CONNECTIONS } from './contender.ts';
import { makeDeliveries, POOL } from './deliveries.ts';
import type { Place } from './services.ts';

const BATCH = 50;
const CLIENTS = 4;

/**
 * Without HTTP, signatures, or a check for existing rows: how fast PostgreSQL takes the same rows,
 * from a prepared multi-row statement.
 */
const STATEMENT = `
  with given as materialized (
    select payload, guid, payload -> 'workflow_job' as job, payload -> 'repository' as repository
    from rows from (jsonb_array_elements($1::jsonb), unnest($2::text[])) as given(payload, guid)
  ), stored as (
    insert into jobs (job_id, status, wants_worker, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id, installation_id,
      job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, run_id, run_attempt, job_name, workflow_name, html_url, queued_at,
      delivery_guid)
    select (job ->> 'id')::bigint, 'pending', true, (repository #>> '{owner,id}')::bigint, repository #>> '{owner,login}',
      repository #>> '{owner,type}', (repository ->> 'id')::bigint, repository ->> 'full_name', ${APP_ID},
      (payload #>> '{installation,id}')::bigint, job -> 'labels', '${POOL.name}', '${POOL.image}', 0, 1, (job ->> 'run_id')::bigint,
      (job ->> 'run_attempt')::integer, job ->> 'name', job ->> 'workflow_name', job ->> 'html_url', (job ->> 'created_at')::timestamptz, guid
    from given
  )
  insert into installation_events (source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id,
    delivery_guid, payload)
  select 'webhook', 'workflow_job.' || (payload ->> 'action'), 'job_stored', ${APP_ID}, (payload #>> '{installation,id}')::bigint,
    (repository #>> '{owner,type}')::entity_type_enum, (repository #>> '{owner,id}')::bigint, repository #>> '{owner,login}',
    (repository ->> 'id')::bigint, (job ->> 'id')::bigint, guid, payload
  from given`;

/** The limit for any service here. This process plays the client's share of the work. */
export async function openLimit({ url, schema, dataDir }: Place): Promise<Contender> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(url, schema)));
  const cpu = async () => ({
    service: process.cpuUsage(),
    postgres: await postgresCpuSeconds(dataDir),
  });
  return {
    variant: 'limit',
    connections: [MOST_CONNECTIONS],
    mixes: ['queued'],
    async measure({ firstJobId, count }) {
      const batches = batchesOf(firstJobId, count);
      const latencies: number[] = [];
      const acceptedJobIds: number[] = [];
      const unwritten = batches.values();
      const before = await cpu();
      const begun = performance.now();
      await Promise.all(
        clients.map(async (client) => {
          for (const { jobIds, values } of unwritten) {
            const sent = performance.now();
            await client.query({ name: 'limit', text: STATEMENT, values });
            latencies.push(performance.now() - sent);
            acceptedJobIds.push(...jobIds);
          }
        }),
      );
      const seconds = (performance.now() - begun) / 1_000;
      const { user, system } = process.cpuUsage(before.service);
      const postgres = (await cpu()).postgres - before.postgres;
      return {
        seconds,
        latencies: Float64Array.from(latencies),
        acceptedJobIds,
        cpuSeconds: { service: (user + system) / 1e6, postgres },
      };
    },
    close: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
}

function batchesOf(firstJobId: number, count: number) {
  const starts = Array.from({ length: Math.ceil(count / BATCH) }, (_, index) => index * BATCH);
  return starts.map((start) => {
    const deliveries = makeDeliveries('queued', firstJobId + start, Math.min(BATCH, count - start));
    const payloads = `[${deliveries.map(({ body }) => body).join(',')}]`;
    return {
      jobIds: deliveries.map(({ jobId }) => jobId),
      values: [payloads, deliveries.map(({ guid }) => guid)],
    };
  });
}

async function connect(connectionString: string, schema: string): Promise<pg.Client> {
  // Its plan does not depend on the parameters, so it is made once, like the plan of our own
  // statement.
  const client = new pg.Client({
    connectionString,
    options: `-c search_path=${schema} -c jit=off -c plan_cache_mode=force_generic_plan`,
  });
  await client.connect();
  return client;
}
