import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret, setSecretOwner } from '@paddock/kube/secrets';
import { watchPods } from '@paddock/kube/watch-pods';
import { sql } from 'kysely';
import { NAMESPACE, POOL, type System } from './system.ts';

export interface Measured {
  /** For all pods, each with its Secret and that Secret's owner, as provisioning makes them. */
  readonly seconds: number;
  /**
   * From the news to this process that a pod runs to the commit that writes it to the pod's row.
   */
  readonly latenciesMs: readonly number[];
  readonly followerMb: number;
}

/** As many as one scheduler provisions at once. */
const AT_ONCE = 16;
/** After this long without news of any pod, the follower counts as stuck. */
const STILL_MS = 60_000;

/**
 * Makes pods for existing rows, with a separate watch, and waits until all rows say that their pod
 * runs.
 */
export async function measure(
  system: System,
  pods: number,
  say: (line: string) => void,
): Promise<Measured> {
  const names = await putWorkers(system, pods);
  const runningAt = new Map<string, number>();
  const over = new AbortController();
  const note = (each: readonly { name: string; phase: string }[]): Promise<void> => {
    for (const { name, phase } of each)
      if (phase === 'Running' && !runningAt.has(name)) runningAt.set(name, Date.now());
    return Promise.resolve();
  };
  const { cluster, instance } = system;
  const watching = watchPods(
    cluster,
    {
      namespace: NAMESPACE,
      instance,
      onList: note,
      onChanges: (changes) => note(changes.map(({ pod }) => pod)),
    },
    over.signal,
  );
  try {
    say(`making ${pods} pods with their Secrets, ${AT_ONCE} at once`);
    const began = performance.now();
    const left = names.values();
    await Promise.all(Array.from({ length: AT_ONCE }, () => makePods(system, left)));
    const seconds = (performance.now() - began) / 1_000;
    say('waiting until all rows say that their pods run');
    await untilAllRun(system, pods);
    const rows = await committedAt(system);
    const latenciesMs = rows.flatMap(({ podName, at }) => {
      const seen = runningAt.get(podName);
      return seen === undefined ? [] : [Math.max(0, at - seen)];
    });
    return { seconds, latenciesMs, followerMb: await residentMb(system.follower.pid) };
  } finally {
    over.abort();
    await watching;
  }
}

/** Rows of registered workers, in one statement. */
async function putWorkers({ db, instance }: System, count: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    insert into workers (pod_name, entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool, k8s_image,
      pools_version, namespace, registration_started_at, registered_at)
    select 'pdk-' || ${instance}::text || '-bench-' || lpad(n::text, 12, '0'), 1, 'acme', 'Organization', 1, 1, 0, '["bench"]', ${POOL.name},
      ${POOL.image}, 1, ${NAMESPACE}, now(), now()
    from generate_series(1, ${count}::integer) n
    returning pod_name as name`.execute(db);
  return rows.map(({ name }) => name);
}

async function makePods({ cluster, instance }: System, names: Iterator<string>): Promise<void> {
  for (let next = names.next(); next.done !== true; next = names.next()) {
    const name = next.value;
    const entity = { type: 'Organization', name: 'acme', appId: 1, installationId: 1 } as const;
    const worker = {
      name,
      namespace: NAMESPACE,
      instance,
      pool: POOL.name,
      image: POOL.image,
      entityId: 1,
      scopeRepoId: 0,
      entity,
    };
    // As long as GitHub's are.
    await createSecret(cluster, runnerSecret({ ...worker, jitConfig: 'x'.repeat(4_000) }));
    const { uid } = await createPod(cluster, runnerPod(worker));
    await setSecretOwner(cluster, { namespace: NAMESPACE, name, podName: name, podUid: uid });
  }
}

async function untilAllRun({ db }: System, pods: number): Promise<void> {
  let last = -1;
  let movedAt = performance.now();
  for (;;) {
    const { running } = await db
      .selectFrom('workers')
      .select(({ fn }) => fn.countAll<number>().as('running'))
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow();
    if (running >= pods) return;
    if (running !== last) movedAt = performance.now();
    if (performance.now() - movedAt > STILL_MS)
      throw new Error(`Only ${running} of ${pods} rows say that their pods run.`);
    last = running;
    await sleep(250);
  }
}

/**
 * When each running row was last changed, in milliseconds since 1970: no statement changes a
 * running row.
 */
async function committedAt({ db }: System): Promise<{ podName: string; at: number }[]> {
  const { rows } = await sql<{ podName: string; at: number }>`
    select pod_name as "podName", (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as at
    from workers where status = 'running'`.execute(db);
  return rows;
}

/** Resident memory of a process, its shared pages included. */
async function residentMb(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) / 1024;
}
