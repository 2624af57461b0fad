import { expect, test } from '@jest/globals';
import { callJson } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { NAMESPACE, startSystem, type TestSystem, WEBHOOK_SECRET } from './start-system.ts';

/** A careless job prints such things. */
const SPILT = `ghs_${'a1B2c3D4'.repeat(5)}`;
const PRIVATE_KEY = 'PRIVATE KEY-----\\n'; // as JSON has it
const JOBS = 3;
/**
 * Longer than the test: such a job ends when it is cancelled, and its Secret is there until then.
 */
const LONG_MS = 3_600_000;
/** A net for a hung test on a busy machine. */
const NET_MS = 240_000;

const list = (cluster: Cluster, resource: string) =>
  callJson(cluster, { method: 'GET', path: `/api/v1/namespaces/${NAMESPACE}/${resource}` });

/**
 * Everything that the services have written anywhere, as text: rows of all tables, pods, events,
 * log lines.
 */
async function allThatIsWritten(
  system: TestSystem,
  cluster: Cluster,
  lines: readonly string[],
): Promise<string> {
  const { db } = system.database;
  const texts: string[] = [];
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql<{ text: string }>`
      select to_jsonb(t)::text as text from ${sql.table(name)} t`.execute(db);
    texts.push(...rows.map(({ text }) => text));
  }
  const objects = [await list(cluster, 'pods'), await list(cluster, 'events')];
  expect(texts.length).toBeGreaterThan(10);
  expect(lines.length).toBeGreaterThan(10);
  return [...texts, JSON.stringify(objects), ...lines].join('\n');
}

/**
 * Runs jobs and meanwhile collects the content of all Secrets; a runner fails after it has written
 * secrets into its log. Returns the secrets found anywhere.
 */
async function findLeaks(
  system: TestSystem,
  cluster: Cluster,
  fail: (podName: string) => Promise<unknown>,
): Promise<string[]> {
  const programs = [];
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const) {
    programs.push(await system.start(service, { settings: { PADDOCK_LOG_LEVEL: 'debug' } }));
  }
  const { db } = system.database;
  const jitConfigs = new Map<string, string>();
  const collect = async (): Promise<void> => {
    const { items } = (await list(cluster, 'secrets')) as {
      items: { metadata: { name: string }; data?: { jitconfig?: string } }[];
    };
    for (const { metadata, data } of items) {
      if (data?.jitconfig !== undefined)
        jitConfigs.set(metadata.name, Buffer.from(data.jitconfig, 'base64').toString());
    }
  };
  const jobs = await system.queueJobs(JOBS, { durationMs: LONG_MS });
  await waitFor('all JIT configs to have been seen', async () => {
    await collect();
    return jitConfigs.size >= JOBS;
  });
  await system.untilJobs(jobs, 'running');
  const [running] = await system.liveWorkers();
  await fail(running?.pod_name ?? '');
  await waitFor('the failure to be diagnosed', async () => {
    const { rows } =
      await sql`select from workers where failure_info ->> 'version' = '2' and failure_info ->> 'reason' = 'exit_code'`.execute(
        db,
      );
    return rows.length > 0;
  });
  for (const id of jobs) await system.github.cancelJob(id);
  await waitFor(
    'jobs to be completed',
    async () => (await system.jobsThat('completed')).length >= JOBS - 1,
  );

  const text = await allThatIsWritten(
    system,
    cluster,
    programs.flatMap((program) => program.lines()),
  );
  // So that a search that finds nothing has found its way.
  expect(text).toContain('The careless job says');
  expect([...jitConfigs.values()].every((config) => config.length > 40)).toBe(true);
  const secrets = [WEBHOOK_SECRET, SPILT, PRIVATE_KEY, ...jitConfigs.values()];
  const encoded = secrets.map((secret) => Buffer.from(secret).toString('base64'));
  // And tokens of installations, which this test cannot know.
  const tokens = text.match(/ghs_\w{10,}|eyJ[\w-]{10,}\.[\w-]{10,}/g) ?? [];
  return [...secrets, ...encoded].filter((secret) => text.includes(secret)).concat(tokens);
}

test(
  'no secret is in any row, pod, event or log line after jobs have run and failed (D1, C6)',
  async () => {
    const system = await startSystem({
      playRunner: async (jitConfig, signal, onLine) => {
        onLine(`The careless job says ${SPILT} and ${jitConfig}`);
        const { exitCode, log } = await playRunner(jitConfig, signal, onLine);
        return { exitCode, log: [`The careless job says ${SPILT} and ${jitConfig}`, ...log] };
      },
    });
    const cluster = connectCluster({
      kubeconfigFile: system.cluster.writeKubeconfig(),
      requestTimeoutMs: 20_000,
    });
    try {
      const fail = (name: string) =>
        Promise.resolve(system.cluster.endPod({ namespace: NAMESPACE, name, end: 'failed' }));
      expect(await findLeaks(system, cluster, fail)).toEqual([]);
    } finally {
      cluster.close();
      await system.stop();
    }
  },
  NET_MS,
);
