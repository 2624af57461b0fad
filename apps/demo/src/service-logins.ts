import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@paddock/db/connection/connect';
import { roleOf, type ServiceName } from '@paddock/db/migrate';
import { sql } from 'kysely';

/** In the order of their start. */
export const SERVICES = [
  'scheduler',
  'reconciler',
  'ingress',
] as const satisfies readonly ServiceName[];

/** Each service of the demo has a login. */
export const LOGINS = [...SERVICES, 'console'] as const satisfies readonly ServiceName[];

export interface ServiceLogins {
  /** The URL with the login of one service. */
  urlOf(service: ServiceName): string;
  drop(): Promise<void>;
}

/** A login for each service, member of only that service's role, for as long as the demo runs. */
export async function createLogins(databaseUrl: string, schema: string): Promise<ServiceLogins> {
  const password = randomBytes(18).toString('hex');
  const suffix = randomBytes(4).toString('hex');
  const nameOf = (service: ServiceName): string => `paddock_demo_${service}_${suffix}`;
  const forEach = async (statement: (service: ServiceName) => string): Promise<void> => {
    const { db, close } = connectDatabase({
      url: databaseUrl,
      schema,
      poolSize: 1,
      applicationName: 'paddock-demo',
    });
    try {
      for (const service of LOGINS) await sql.raw(statement(service)).execute(db);
    } finally {
      await close();
    }
  };
  await forEach(
    (service) =>
      `create role ${nameOf(service)} login password '${password}' in role ${roleOf(schema, service)}`,
  );
  return {
    urlOf(service) {
      const url = new URL(databaseUrl);
      url.username = nameOf(service);
      url.password = password;
      return url.href;
    },
    drop: () => forEach((service) => `drop role ${nameOf(service)}`),
  };
}
