import { randomBytes } from 'node:crypto';
import { roleOf, type ServiceName } from '@paddock/db/connection/schema-name';
import { withConnection } from './server-connection.ts';

/**
 * One login for each service, with only that service's rights. Logins belong to the whole server,
 * so their names and password are unique to this run.
 */
export interface ServiceLogins {
  readonly prefix: string;
  readonly password: string;
}

const SERVICES: readonly ServiceName[] = ['ingress', 'scheduler', 'reconciler', 'console'];

const nameOfLogin = ({ prefix }: ServiceLogins, service: ServiceName): string =>
  `${prefix}_${service}`;

export async function createLogins(serverUrl: string): Promise<ServiceLogins> {
  const logins = {
    prefix: `paddock_test_${randomBytes(6).toString('hex')}`,
    password: randomBytes(18).toString('hex'),
  };
  await withConnection(serverUrl, async (client) => {
    for (const name of SERVICES.map((service) => nameOfLogin(logins, service))) {
      await client.query(`create role ${name} login password '${logins.password}'`);
      // Lets tests end its sessions.
      await client.query(`grant ${name} to current_user`);
    }
  });
  return logins;
}

/** Makes the logins members of the services' roles, which the migrator has made. */
export async function admitLogins(
  serverUrl: string,
  logins: ServiceLogins,
  schema: string,
): Promise<void> {
  await withConnection(serverUrl, async (client) => {
    for (const service of SERVICES)
      await client.query(`grant ${roleOf(schema, service)} to ${nameOfLogin(logins, service)}`);
  });
}

export async function dropLogins(serverUrl: string, logins: ServiceLogins): Promise<void> {
  await withConnection(serverUrl, async (client) => {
    for (const service of SERVICES)
      await client.query(`drop role if exists ${nameOfLogin(logins, service)}`);
  });
}

/** The same database for the login of one service. */
export function urlFor(url: string, logins: ServiceLogins, service: ServiceName): string {
  const own = new URL(url);
  own.username = nameOfLogin(logins, service);
  own.password = logins.password;
  return own.href;
}
