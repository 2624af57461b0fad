import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import { listenHttp } from '@paddock/runtime/http-server';
import { ACME, putJob, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { noteEvents, usualContext } from '../scenes/sweep.scene.ts';
import { sweepKinds } from '../sweeps.ts';
import { readCollector } from './collector.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly { key: string; value: { stringValue: string } }[];
}
interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly object[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const database = useTestDatabase();
const heard: { path: string | undefined; headers: IncomingHttpHeaders; body: Body }[] = [];
let status: number;
let http: Awaited<ReturnType<typeof listenHttp>>;
let endpoint: string;

beforeAll(async () => {
  http = await listenHttp(
    (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as Body;
        heard.push({ path: request.url, headers: request.headers, body });
        response.writeHead(status).end('{}');
      });
    },
    { port: 0, host: '127.0.0.1' },
  );
  endpoint = `http://127.0.0.1:${http.port}`;
});
afterAll(() => http.close());
beforeEach(async () => {
  await emptyAll(database.db);
  const row = { name: 'recover-tasks', last_tick_at: new Date() };
  await database.db.insertInto('schedules').values(row).execute();
  heard.length = 0;
  status = 200;
});

async function pass(environment: Readonly<Record<string, string>>) {
  const db = database.dbOf('reconciler');
  const { events, told } = noteEvents();
  const collector = readCollector(environment);
  await enqueueAlone(db, [sweepTask('recover-tasks')]);
  await runDueTasks({ db, kinds: sweepKinds({ ...usualContext(db), events, collector }) });
  return told('tracesRefused').flat();
}

const GUID = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
const from = Date.now() - 1_800_000;
/** Half an hour ago, and these seconds later. */
const at = (second: number) => new Date(from + second * 1_000);

/** When a span was, in seconds. */
const seconds = ({ name, startTimeUnixNano, endTimeUnixNano }: Span) =>
  `${name} ${[startTimeUnixNano, endTimeUnixNano].map((nanos) => (Number(BigInt(nanos) / 1_000_000n) - from) / 1_000).join('-')}`;

/** An event of the end of a job, heard two minutes ago. */
const hear = (jobId: number) =>
  sql`insert into installation_events (source, event, outcome, job_id, payload, received_at)
    values ('webhook', 'workflow_job.completed', 'ok', ${jobId}, '{}', now() - interval '2 minutes')`.execute(
    database.db,
  );

/** A job that a worker of its own ran. */
async function runJob(deliveryGuid = GUID) {
  const { db } = database;
  const { job_id, job_name } = await putJob(db, {
    delivery_guid: deliveryGuid,
    status: 'completed',
    wants_worker: false,
    conclusion: 'failure',
    queued_at: at(0),
    created_at: at(1),
    started_at: at(25),
    completed_at: at(60),
  });
  const { pod_name } = await putWorker(db, {
    ...ACME,
    status: 'completed',
    assigned_job_id: job_id,
    assigned_at: at(25),
    created_at: at(2),
    registered_at: at(3),
    running_at: at(20),
    completed_at: at(61),
  });
  await db.updateTable('jobs').set({ k8s_pod: pod_name }).where('job_id', '=', job_id).execute();
  await hear(job_id);
  return { jobId: job_id, jobName: job_name, podName: pod_name };
}

describe('the trace of a job', () => {
  test('reaches the collector once, from the delivery to its end, by the id of the delivery', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20hush,x-scope=a',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod',
    };
    await hear(1);
    await pass(environment);
    const { jobId, jobName, podName } = await runJob();
    for (let time = 0; time < 3; time++) await pass(environment);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer hush', 'x-scope': 'a', 'content-type': 'application/json' },
    });
    const [resourceSpans] = heard[0]?.body.resourceSpans ?? [];
    expect(resourceSpans?.resource.attributes).toEqual([
      { key: 'service.name', value: { stringValue: 'paddock' } },
      { key: 'deployment.environment.name', value: { stringValue: 'prod' } },
    ]);
    const [root, ...spans] = resourceSpans?.scopeSpans[0]?.spans ?? [];
    expect(root && seconds(root)).toBe('workflow_job 0-60');
    expect(spans.map(seconds)).toEqual([
      'delivery 0-1',
      'match 1-2',
      'register 2-3',
      'pod 3-20',
      'online 20-25',
      'job 25-60',
    ]);
    expect(root).toMatchObject({ traceId: GUID.replaceAll('-', ''), status: { code: 2 } });
    expect(root?.parentSpanId).toBeUndefined();
    for (const { traceId, parentSpanId } of spans)
      expect([traceId, parentSpanId]).toEqual([root?.traceId, root?.spanId]);
    const ids = [root, ...spans].map((span) => span?.spanId);
    expect(new Set(ids).size).toBe(7);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
    const attributes = Object.fromEntries(
      (root?.attributes ?? []).map(({ key, value }) => [key, value.stringValue]),
    );
    expect(attributes).toMatchObject({
      'cicd.pipeline.task.name': jobName,
      'cicd.pipeline.task.run.id': String(jobId),
      'k8s.pod.name': podName,
      'paddock.pool': 'linux',
      'paddock.delivery': GUID,
    });
  });

  test('is sent again, with the same ids, until the collector accepts it', async () => {
    const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/spans` };
    await hear(1);
    await pass(environment);
    await runJob('no guid');
    status = 503;
    expect(await pass(environment)).toEqual(['the collector answered 503']);
    status = 202;
    expect(await pass(environment)).toEqual([]);
    await pass(environment);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toMatchObject({ path: '/spans' });
    expect(heard[1]?.body).toEqual(heard[0]?.body);
  });

  test('fits into the numbers of a collector, which would refuse those of all others with it', async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    await hear(1);
    await pass(environment);
    await runJob();
    const [queued_at, completed_at] = [
      new Date('0001-01-01T00:00Z'),
      new Date('9999-12-31T00:00Z'),
    ];
    await database.db.updateTable('jobs').set({ queued_at, completed_at }).execute();
    await pass(environment);
    const spans = heard[0]?.body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    const nanos = spans.flatMap((one) => [one.startTimeUnixNano, one.endTimeUnixNano]);
    expect(nanos).toHaveLength(14);
    expect(nanos.map((text) => String(BigInt.asUintN(64, BigInt(text))))).toEqual(nanos);
  });

  test('is not left out if a longer transaction has its event after it', async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    await hear(1);
    await pass(environment);
    const { jobId } = await runJob();
    const ofJob = (age: string) =>
      sql`update installation_events set received_at = now() - ${age}::interval where job_id = ${jobId}`.execute(
        database.db,
      );
    await ofJob('59 seconds');
    await hear(1);
    await pass(environment);
    await ofJob('61 seconds');
    await pass(environment);
    expect(heard).toHaveLength(1);
  });

  test.each<[string, Readonly<Record<string, string>>, string[]]>([
    ['is not asked for', {}, []],
    ['is switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'x', OTEL_SDK_DISABLED: 'true' }, []],
    [
      'has another exporter',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'x', OTEL_TRACES_EXPORTER: 'none' },
      [],
    ],
    [
      'has no address',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      ['the OTLP endpoint is no address such as http://collector:4318'],
    ],
    [
      'is wanted by gRPC',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      [
        'traces are sent by OTLP over HTTP, not gRPC: name the collector’s port for HTTP, often 4318',
      ],
    ],
  ])('is not sent if it %s', async (_why, environment, problems) => {
    await runJob();
    expect(await pass(environment)).toEqual(problems);
    expect(heard).toEqual([]);
  });
});
