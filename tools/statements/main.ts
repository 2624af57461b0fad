// Holds the type of each raw statement's rows against what PostgreSQL says of them: names of columns,
// their types, and whether they may be null. Without arguments looks at all files of the product.
import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { differences } from './differences.ts';
import { openDescriber } from './describe.ts';
import { NEVER_NULL, UNREACHED } from './exceptions.ts';
import { recordTexts } from './record-texts.ts';
import { openSources, type Source } from './typed-sources.ts';

const SCHEMA = 'paddock';
const given = process.argv.slice(2);
const product = globSync('{apps,packages}/*/src/**/*.ts', {
  exclude: ['**/*.{test,scene,contract}.ts', 'apps/demo/**', 'packages/testing/**'],
}).filter((file) => /\b(sql|(only)?rows?Of)</i.test(readFileSync(file, 'utf8')));
const files = given.length > 0 ? given : product;

const projects = new Set(files.map((file) => file.replace(/\/src\/.*/, '/tsconfig.json')));
const sources = openSources([...projects].map((project) => resolve(project)));
const read = new Map(files.map((file) => [resolve(file), sources.read(resolve(file))]));
const postgres = await startPostgres();
await migrate({ url: postgres.url(), schema: SCHEMA });
const connection = connectDatabase({
  url: postgres.url(),
  schema: SCHEMA,
  poolSize: 1,
  applicationName: 'paddock-statements',
});
const found = await compareAll(read);
for (const sentence of found) process.stdout.write(`${sentence}\n`);
await connection.close();
await postgres.stop();
sources.close();
// Loops among the functions that were called would go on.
process.exit(found.length > 0 ? 1 : 0);

async function compareAll(of: ReadonlyMap<string, Source>): Promise<string[]> {
  const texts = await recordTexts(of);
  const describer = await openDescriber(connection.pool);
  const sentences = new Set<string>();
  const unused = new Set(Object.keys({ ...NEVER_NULL, ...UNREACHED }));
  for (const [path, { checker, sites }] of of) {
    const file = relative('.', path);
    const neverNull = NEVER_NULL[file] ?? [];
    for (const { at, row } of sites) {
      const place = relative('.', at);
      const known = texts.get(at);
      if (known === undefined && UNREACHED[file] === undefined)
        sentences.add(`${place}: made-up values do not reach this statement`);
      if (known === undefined) unused.delete(file);
      for (const text of known ?? []) {
        const columns = await describer.describe(text).catch((error: unknown) => String(error));
        if (typeof columns === 'string') {
          sentences.add(`${place}: ${columns}`);
          continue;
        }
        for (const { column, says } of differences(checker, row, columns)) {
          if (says === 'may be null' && neverNull.includes(column)) unused.delete(file);
          else sentences.add(`${place}: ${column} ${says}`);
        }
      }
    }
  }
  describer.close();
  const stale = given.length > 0 ? [] : [...unused];
  return [...sentences, ...stale.map((file) => `${file} needs no exception`)];
}
