import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS } from '@paddock/db/migrate';
import { SCHEMA_VERSION } from '@paddock/db/schema-version';
import type { ServiceName } from '../start-system.ts';

const BUNDLER = join(import.meta.dirname, '../../../tools/bundle-next-version.mjs');

/** A version made up by a test: today's services, but they need one more migration. */
export interface NextVersion {
  /** The folder of its migrations. */
  readonly migrations: string;
  /** The name of its own migration. */
  readonly newest: string;
  readonly program: (service: ServiceName) => string;
  readonly remove: () => Promise<void>;
}

export async function makeNextVersion(migration: string): Promise<NextVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'paddock-next-'));
  const migrations = join(folder, 'migrations');
  const newest = `${String(SCHEMA_VERSION + 1).padStart(4, '0')}_made_up`;
  await cp(MIGRATIONS, migrations, { recursive: true });
  await writeFile(join(migrations, `${newest}.sql`), migration);
  execFileSync(process.execPath, [BUNDLER, folder], { stdio: 'pipe' });
  return {
    migrations,
    newest,
    program: (service) => join(folder, `${service}.mjs`),
    remove: () => rm(folder, { recursive: true }),
  };
}
