import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { pendingSql } from '@paddock/db/migrate';
import { createEmptyDatabase, type TestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';

const ROOT = join(import.meta.dirname, '../../..');
const SCHEMA = 'upgraded';

/** The name of the newest migration. */
export const NEWEST =
  readdirSync(join(ROOT, 'db/migrations')).toSorted().at(-1)?.replace('.sql', '') ?? '';

const MIGRATION = `db/migrations/${NEWEST}.sql`;

/** A database that lacks the newest migration, as after applying the others by hand. */
export async function createDatabaseBehind(): Promise<TestDatabase> {
  const { url, drop } = await createEmptyDatabase();
  const all = await pendingSql({ url, schema: SCHEMA });
  const { db, close } = connectDatabase({
    url,
    schema: SCHEMA,
    poolSize: 5,
    applicationName: 'paddock-test',
  });
  await sql.raw(`${all.slice(0, all.indexOf(`-- ${NEWEST}\n`))}commit;`).execute(db);
  return {
    url,
    schema: SCHEMA,
    db,
    // As before there were roles of services: all connect as the tables' owner.
    urlOf: () => url,
    dbOf: () => db,
    drop: async () => {
      await close();
      await drop();
    },
  };
}

/** The last commit without the newest migration, where the history of the checkout has it. */
export function findEarlierVersion(): string | undefined {
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '-1', '--', MIGRATION);
    return git('rev-parse', '--verify', `${added}^`);
  } catch {
    return undefined;
  }
}

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();

/** Bundles the services of a commit into a folder, each as NAME.mjs. */
export function bundleVersion(commit: string, folder: string): void {
  execFileSync(process.execPath, [join(ROOT, 'tools/bundle-version.mjs'), commit, folder], {
    stdio: 'pipe',
  });
}
