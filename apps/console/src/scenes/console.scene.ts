import { afterAll, beforeAll } from '@jest/globals';
import { ENDPOINTS } from '@paddock/api/endpoints';
import { createTokenEndpoint } from '@paddock/api/tokens/tokens';
import type { TestDatabase } from '@paddock/testing/database';
import { late, useTestDatabase } from '@paddock/testing/use-test-database';
import { startService } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';

type Service = Awaited<ReturnType<typeof startService>>;

/** What a request has besides its path and its token. */
interface Sent {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Console extends Service {
  /** A request to the API; `path` is below `/api/v1/`. */
  ask(path: string, token?: string, init?: Sent): Promise<Response>;
  /** The answer to a GET at the port of health and metrics. */
  health(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

/** The real service as a process, with its own login, for the tests of a file. */
export function useConsole(env: Readonly<Record<string, string>> = {}): {
  database: TestDatabase;
  service: Console;
} {
  const database = useTestDatabase();
  let service: Console;
  beforeAll(async () => {
    service = await startConsole(database, env);
  });
  afterAll(async () => {
    service.kill('SIGTERM');
    await service.exited;
  });
  return { database, service: late(() => service) };
}

export async function startConsole(
  database: TestDatabase,
  env: Readonly<Record<string, string>>,
): Promise<Console> {
  const service = await startService({
    app: 'console',
    env: {
      DATABASE_URL: database.urlOf('console'),
      PADDOCK_SCHEMA: database.schema,
      ...env,
    },
  });
  const health = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${service.healthPort}${path}`);
    return { status: answer.status, text: (await answer.text()).trim() };
  };
  await waitFor('readiness', async () => (await health('/readyz')).status === 200);
  return { ...service, health, ask: asker(`http://127.0.0.1:${service.port}`) };
}

/** Asks the API at this address. */
export const asker =
  (base: string): Console['ask'] =>
  (path, token, init = {}) =>
    fetch(`${base}/api/v1/${path}`, {
      ...init,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
        ...init.headers,
      },
    });

/** A new token. Endpoints of a test can be narrowed to, too. */
export async function makeToken(
  { db }: Pick<TestDatabase, 'db'>,
  input: Readonly<Record<string, unknown>>,
  endpoints = ENDPOINTS,
): Promise<string> {
  const endpoint = createTokenEndpoint(endpoints);
  const given = endpoint.input.parse({ access: 'operate', ...input });
  return (await endpoint.answer({ db, person: 'ada', from: 'api' }, given)).token;
}

/** Signs in, and returns the cookie as the browser sends it. */
export async function signIn(service: Pick<Console, 'ask'>, token: string): Promise<string> {
  const answer = await service.ask('../../session', token, { method: 'POST' });
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
