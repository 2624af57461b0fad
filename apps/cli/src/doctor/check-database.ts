import type { DatabaseConnection } from '@paddock/db/connection/connect';
import type { ConnectionConfig } from '@paddock/db/connection/pool';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { UNGUARDED, unguardedHost } from '@paddock/db/connection/database-url';
import { roleOf, SERVICES } from '@paddock/db/connection/schema-name';
import { whyPooled } from '@paddock/db/connection/readiness';
import { readDatabaseFacts, whyUnfit } from '@paddock/db/database-checks';
import { proveMechanisms } from '@paddock/db/prove-mechanisms';
import type { Db } from '@paddock/db/schema/tables';
import { explainCauses, whyUnreachable } from '@paddock/db/why-unreachable';
import {
  checkFacts,
  type Finding,
  findingsOf,
  INSUFFICIENT_PRIVILEGE,
  messageOf,
} from '@paddock/api/findings/findings';

interface Given {
  readonly url: string;
  readonly connection: DatabaseConnection;
  readonly schema: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a service would find, and what none can see from its own connection. Never rejects. */
export async function checkDatabase({ url, connection, schema, now }: Given): Promise<Finding[]> {
  const { db, config } = connection;
  const { found, mend, remark, unchecked } = findingsOf('database');
  try {
    const unfit = await whyUnfitNow(db, config, schema);
    if (unfit.length > 0) {
      mend(...unfit.map((why) => `The database cannot be used: ${why}`));
      return found;
    }
    const facts = await readDatabaseFacts(db, { schema });
    found.push(...(await checkFacts(db, facts, { schema, now: now() })));
    const host = unguardedHost(url);
    if (host !== undefined) remark(`Of the database at ${host}: ${UNGUARDED}`);
    const { failed, untried, foreign } = await proveMechanisms(config);
    const engine = foreign === undefined ? '' : `. It calls itself ${foreign}`;
    mend(...failed.map((why) => `${why}. Use PostgreSQL itself${engine}`));
    unchecked(...untried);
    if (foreign !== undefined && failed.length === 0)
      remark(
        `The database calls itself ${foreign}: Paddock is tested with PostgreSQL itself; use that`,
      );
  } catch (error) {
    const cure =
      sqlStateOf(error) === INSUFFICIENT_PRIVILEGE
        ? '; run the migration again with a role that may grant rights'
        : '';
    mend(
      explainCauses(error, whyUnreachable) ??
        `PostgreSQL cannot be asked: ${messageOf(error)}${cure}`,
    );
  }
  return found;
}

/** Why a service could not work, as its readiness says: with the rights of each role of the login. */
async function whyUnfitNow(db: Db, config: ConnectionConfig, schema: string): Promise<string[]> {
  const pooled = await whyPooled(config, schema);
  if (typeof pooled === 'string') return [pooled];
  if (!pooled)
    return [
      'it has no two connections left: raise the limit of the role, the database or the server, or end some',
    ];
  const why = whyUnfit(await readDatabaseFacts(db, { schema }), { schema });
  if (why !== undefined) return [why];
  const reasons = new Set<string>();
  for (const role of SERVICES.map((service) => roleOf(schema, service))) {
    const facts = await readDatabaseFacts(db, { schema, role });
    const lacking = facts.isMember === true ? whyUnfit(facts, { schema, role }) : undefined;
    if (lacking !== undefined) reasons.add(lacking);
  }
  return [...reasons];
}
