import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { configFile } from '@paddock/domain/pools/config-file';
import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { parseYaml } from '@paddock/runtime/yaml-file';
import { type TestDatabase, createTestDatabase } from '@paddock/testing/database';
import { putPools } from '@paddock/testing/demand-rows';
import { emptyTables, late, useTestDatabase } from '@paddock/testing/use-test-database';
import { metricSum } from '@paddock/testing/metric-sum';
import { startService } from '@paddock/testing/processes';
import {
  type JsonObject,
  type SignedDelivery,
  examplePayload,
  post,
  signedDelivery,
} from '@paddock/testing/signed-delivery';
import { untilBlocked, untilDisconnected } from '@paddock/testing/sessions';
import { waitFor } from '@paddock/testing/wait-for';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const APP = 7;
export const SECRET = 'It is a secret';

/** A configuration file: JSON, which is YAML. Unless given, it has one App, one pool and all entities. */
export const configOf = ({
  apps = [{ id: APP, webhookSecret: { env: 'HOOK_SECRET' } }],
  pools = [{ name: 'small', labels: ['self-hosted', 'linux'] }],
  entities = { '*': {} },
}: { apps?: readonly object[]; pools?: readonly object[]; entities?: object } = {}): string => {
  const whole = pools.map((pool) =>
    Object.assign({ image: 'runner:1', namespace: 'runners' }, pool),
  );
  return JSON.stringify({ github: { apps }, pools: whole, entities });
};

export const CONFIG = configOf();

/** The rules of most tests: every delivery has to be stored, however busy the machine is. */
export const PATIENT = { ingress: { writeTimeoutMs: 9_000, answerTimeoutMs: 9_000 } };

/** As long as GitHub waits for an answer, in milliseconds: for tests of answers in time. */
export const GITHUBS_PATIENCE_MS = 10_000;

/** In all others the sender may be slow itself, when many files are tested at once. */
const PATIENCE_MS = 60_000;

export interface IngressStart {
  readonly url: string;
  readonly schema: string;
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly rules?: RuleValues;
  /** How long `deliver` waits for an answer. */
  readonly patienceMs?: number;
}

type Service = Awaited<ReturnType<typeof startService>>;

export interface Ingress extends Service {
  /** Of the webhook. */
  readonly base: string;
  readonly configPath: string;
  /** The answer to a GET at the port of health and metrics. */
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Rejects if there is no answer within the patience. */
  deliver(delivery: SignedDelivery): Promise<{
    readonly status: number;
    readonly text: string;
    readonly retryAfter: string | null;
  }>;
  /** The text of the answer. */
  tell(delivery: Promise<SignedDelivery>): Promise<string>;
  /** Delivers a job that fits the pool. */
  queue(jobId: number): ReturnType<Ingress['deliver']>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Service['exited'];
  untilReady(): Promise<unknown>;
  /** The sum of a metric over all its labels; `name` may go on with some of them. */
  metric(name: string): Promise<number>;
}

/**
 * A database in which the pools of a configuration file are in force, as the scheduler puts them
 * there. Its `url` is for ingress' own login.
 */
export async function createIngressDatabase(config = CONFIG): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await putPoolsOf(database, config);
  return { ...database, url: database.urlOf('ingress') };
}

/** Puts the pools of a configuration file in force. */
export async function putPoolsOf({ db }: Pick<TestDatabase, 'db'>, config: string): Promise<void> {
  const { value, problems } = parseYaml('paddock.yaml', config, configFile);
  if (value === undefined) throw new Error(problems.join('\n'));
  await putPools(db, { pools: value.pools, entities: value.entities });
}

/**
 * The real service as a process, with a separate configuration file. It listens, and need not be
 * ready yet.
 */
export async function startIngress({
  url,
  schema,
  config = CONFIG,
  env = {},
  rules = PATIENT,
  patienceMs = PATIENCE_MS,
}: IngressStart): Promise<Ingress> {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-ingress-'));
  const configPath = join(folder, 'paddock.yaml');
  writeFileSync(configPath, config);
  const service = await startService({
    app: 'ingress',
    env: {
      DATABASE_URL: url,
      PADDOCK_SCHEMA: schema,
      PADDOCK_CONFIG: configPath,
      HOOK_SECRET: SECRET,
      ...rulesVariable(rules),
      ...env,
    },
  });
  const base = `http://127.0.0.1:${service.port}`;
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${service.healthPort}${path}`);
    return { status: answer.status, text: (await answer.text()).trim() };
  };
  const deliver = async (delivery: SignedDelivery) => {
    const answer = await post(base, delivery, AbortSignal.timeout(patienceMs));
    return {
      status: answer.status,
      text: (await answer.text()).trim(),
      retryAfter: answer.headers.get('retry-after'),
    };
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    service.kill(signal);
    const how = await service.exited;
    rmSync(folder, { recursive: true, force: true });
    return how;
  };
  return {
    ...service,
    configPath,
    base,
    ask,
    deliver,
    queue: async (jobId) => deliver(await jobDelivery('queued', jobId)),
    tell: async (delivery) => (await deliver(await delivery)).text,
    end,
    untilReady: () => waitFor('readiness', async () => (await ask('/readyz')).status === 200),
    metric: async (name) => metricSum((await ask('/metrics')).text, name),
  };
}

/** Resolves once a writer waits for a lock. */
export const waitForWriter = ({ db }: TestDatabase) =>
  untilBlocked(db, { applicationName: 'paddock-ingress-write' });

/** A signed delivery of the App. */
export const signed = (
  event: string,
  payload: unknown,
  more: { guid?: string; headers?: Record<string, string> } = {},
) => signedDelivery({ event, payload, secret: SECRET, appId: APP, ...more });

/** One of a private job that fits the pool; `more` has other fields of the payload. */
export const jobDelivery = (
  action: 'queued' | 'waiting' | 'in_progress' | 'completed',
  jobId: number,
  job: JsonObject = {},
  { repository = {}, ...more }: { repository?: JsonObject; installation?: JsonObject } = {},
) =>
  signed(
    'workflow_job',
    examplePayload('workflow_job', action, {
      workflow_job: { id: jobId, labels: ['linux'], ...job },
      repository: { private: true, ...repository },
      ...more,
    }),
  );

/** One process of ingress for the tests of a file, with a new database. */
export function useIngress({
  config = CONFIG,
  ...given
}: Pick<IngressStart, 'config' | 'env' | 'rules'> = {}): {
  database: TestDatabase;
  ingress: Ingress;
} {
  const database = useTestDatabase(() => createIngressDatabase(config));
  let ingress: Ingress;
  beforeAll(async () => {
    ingress = await startIngress({ ...database, config, ...given });
    await ingress.untilReady();
  });
  afterAll(() => ingress.end('SIGKILL'));
  return { database, ingress: late(() => ingress) };
}

/** Starts processes of ingress that end with their test; their stored rows go too. */
export function useIngresses(
  database: TestDatabase,
): (given?: Partial<IngressStart>) => Promise<Ingress> {
  const started: Ingress[] = [];
  afterEach(async () => {
    for (const ingress of started.splice(0)) await ingress.end('SIGKILL');
    await untilDisconnected(database.db, 'ingress');
    await emptyTables(database.db, ['jobs', 'installations', 'login_pins', 'installation_events']);
  });
  return async (given) => {
    const ingress = await startIngress({ ...database, ...given });
    started.push(ingress);
    return ingress;
  };
}

/** The statuses of all answers to `exchangeRaw`. */
export async function sendRaw(
  port: number,
  parts: readonly Buffer[],
  end: 'wait' | 'close' | 'break',
): Promise<number[]> {
  const text = await exchangeRaw(port, parts, end);
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/**
 * Writes the parts one after the other to a new connection, and returns all answers once it is
 * closed. `end` says how the sender leaves: it waits for the other side, closes its own, or breaks
 * off.
 */
export function exchangeRaw(
  port: number,
  parts: readonly Buffer[],
  end: 'wait' | 'close' | 'break',
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const received: Buffer[] = [];
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('data', (data: Buffer) => received.push(data));
  // A connection that the service resets is an answer too.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    resolve(Buffer.concat(received).toString('latin1'));
  });
  const writeFrom = (index: number): void => {
    const part = parts[index];
    // Each part is a separate packet: the next one goes once this one has left.
    if (part !== undefined) socket.write(part, () => setImmediate(writeFrom, index + 1));
    else if (end === 'close') socket.end();
    else if (end === 'break') socket.resetAndDestroy();
  };
  socket.on('connect', () => writeFrom(0));
  return promise;
}
