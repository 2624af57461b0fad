import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  sql,
} from 'kysely';
import { type Checker, SignatureKind, type Type } from 'typescript/unstable/sync';
import { sampler } from './sample.ts';
import type { Source } from './typed-sources.ts';

/** Answers no statement: only its text is wanted. */
const db = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** The texts of statements by the site that executes them. */
export type Texts = Map<string, Set<string>>;

/** How often a site is answered with a row, so that loops end. */
const ROWS = 2;
/** Longer than any function takes that waits for nothing. */
const LIMIT_MS = 50;
/** A site that is asked more often is in a loop that waits for other rows. */
const ENOUGH = 20;

/**
 * Calls each exported function and endpoint of the files with made-up values, and records the
 * statements that they would have executed. So a text has all that is put into its template.
 */
export async function recordTexts(sources: ReadonlyMap<string, Source>): Promise<Texts> {
  const texts: Texts = new Map();
  const rows = new Map<string, () => unknown>();
  const builder = Object.getPrototypeOf(sql``) as {
    compile(by: QueryExecutorProvider): CompiledQuery;
    execute(by: QueryExecutorProvider): Promise<unknown>;
  };
  const execute = builder.execute;
  builder.execute = function (by) {
    const at = caller();
    const known = texts.get(at) ?? new Set<string>();
    texts.set(at, known.add(this.compile(by).sql));
    const row = rows.get(at)?.();
    return Promise.resolve({ rows: row === undefined ? [] : [row], numAffectedRows: 1n });
  };
  try {
    for (const bare of [false, true]) {
      for (const [file, { checker, exports, sites }] of sources) {
        if (sites.length === 0) continue;
        const sample = sampler(checker, db, bare);
        for (const { at, row } of sites) {
          let left = ROWS;
          rows.set(at, () => {
            left--;
            if (left < -ENOUGH) throw new Error('a loop');
            return left >= 0 ? sample(row) : undefined;
          });
        }
        const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
        for (const [name, type] of exports) await callAll(checker, sample, type, module[name]);
      }
    }
  } finally {
    builder.execute = execute;
  }
  return texts;
}

/** Calls a function, and those of a plain object or of what it returns. */
async function callAll(
  checker: Checker,
  sample: (type: Type) => unknown,
  type: Type,
  value: unknown,
  depth = 0,
): Promise<void> {
  if (typeof value !== 'function') {
    if (!isPlain(value)) return;
    for (const property of checker.getPropertiesOfType(type)) {
      const of = checker.getTypeOfSymbol(property);
      const part = value[property.name];
      if (of !== undefined && typeof part === 'function')
        await callAll(checker, sample, of, part.bind(value), depth + 1);
    }
    return;
  }
  const [call] = checker.getSignaturesOfType(type, SignatureKind.Call);
  if (call === undefined || depth > 2) return;
  try {
    const given = call.getParameters().map((parameter) => {
      const of = checker.getTypeOfSymbol(parameter);
      return of && sample(of);
    });
    const result = await Promise.race([
      (value as (...values: unknown[]) => unknown)(...given),
      new Promise((done) => setTimeout(done, LIMIT_MS)),
    ]);
    const returned = checker.getReturnTypeOfSignature(call);
    const [awaited] =
      returned?.getSymbol()?.name === 'Promise'
        ? checker.getTypeArguments(returned as never)
        : [returned];
    if (awaited !== undefined) await callAll(checker, sample, awaited, result, depth + 1);
  } catch {
    // Made-up values do not fit together; what was executed before is recorded.
  }
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The place in a source that has a statement executed, perhaps by `rows.ts`. */
function caller(): string {
  const stack = new Error().stack?.split('\n').slice(3) ?? [];
  const line = stack.find((one) => !one.includes('/db/src/rows.ts')) ?? '';
  const [, file, at] = /(file:\S+?)(:\d+:\d+)/.exec(line) ?? [];
  return file === undefined ? line : `${fileURLToPath(file)}${at}`;
}
