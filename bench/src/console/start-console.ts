import { createToken } from '@paddock/api/endpoints';
import { connectDatabase } from '@paddock/db/connection/connect';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import { startService } from '@paddock/testing/processes';
import { admitLogins, createLogins, urlFor } from '@paddock/testing/service-logins';

/** The console in its own process, whose login has its role only, as in production. */
export interface RunningConsole {
  readonly pid: number;
  /** Of the page; ends with "/". */
  readonly url: string;
  /** Of somebody who may see all. */
  readonly headers: { readonly authorization: string };
  stop(): Promise<void>;
}

/** Needs a migrated schema. */
export async function startConsole(postgres: Postgres, schema: string): Promise<RunningConsole> {
  const token = await makeToken(postgres.url(), schema);
  const logins = await createLogins(postgres.url());
  await admitLogins(postgres.url(), logins, schema);
  const service = await startService({
    app: 'console',
    env: {
      DATABASE_URL: urlFor(postgres.url(), logins, 'console'),
      PADDOCK_SCHEMA: schema,
      PADDOCK_HTTP_HOST: '127.0.0.1',
      PADDOCK_PUBLIC_PORT: '0',
      PADDOCK_HEALTH_PORT: '0',
    },
  });
  return {
    pid: service.pid,
    url: `http://127.0.0.1:${service.port}/`,
    headers: { authorization: `Bearer ${token}` },
    async stop() {
      service.kill('SIGTERM');
      await service.exited;
    },
  };
}

async function makeToken(url: string, schema: string): Promise<string> {
  const { db, close } = connectDatabase({
    url,
    schema,
    poolSize: 1,
    applicationName: 'bench-console',
  });
  try {
    const caller = { db, person: 'bench', from: 'terminal' } as const;
    const given = createToken.input.parse({ name: 'bench', access: 'operate' });
    return (await createToken.answer(caller, given)).token;
  } finally {
    await close();
  }
}
