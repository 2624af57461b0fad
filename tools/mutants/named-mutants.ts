import { readFileSync, readdirSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../mutants');

/** One change of the code that breaks one promise. */
export interface NamedMutant {
  /** The broken promise, as one sentence without a full stop; unique. */
  readonly mutant: string;
  /** The changed file, from the root of the checkout. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The test files of which one must fail, from the root of the checkout; the fewest that do. */
  readonly tests: readonly string[];
  /** The row of the fault matrix that must fail, with the fewest jobs that it needs, instead. */
  readonly row?: { readonly name: string; readonly jobs: number };
}

/** All named mutants; the rows of the fault matrix, which take minutes each, come last. */
export function readNamedMutants(): readonly NamedMutant[] {
  const all = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.diff'))
    .toSorted()
    .flatMap((name) => parseMutants(readFileSync(join(FOLDER, name), 'utf8')));
  return all.toSorted((one, other) => Number('row' in one) - Number('row' in other));
}

/**
 * A line `== FILE: KILLERS` begins a group. Each of its mutants is a name, the lines to find (`- `),
 * which may begin and end within a line of the file, and those that replace them (`+ `).
 */
function parseMutants(text: string): NamedMutant[] {
  return text.split(/^== /m).flatMap((group) => {
    const [head = '', ...lines] = group.trimEnd().split('\n');
    const [file = '', killers = ''] = head.split(': ');
    const mutants: { mutant: string; '-': string[]; '+': string[] }[] = [];
    for (const line of lines) {
      const sign = line.charAt(0);
      if (sign === '-' || sign === '+') mutants.at(-1)?.[sign].push(line.slice(2));
      else mutants.push({ mutant: line, '-': [], '+': [] });
    }
    if (head !== '' && mutants.length === 0)
      throw new Error(`"== ${head}" begins a group without a mutant`);
    const found = killersOf(file, killers);
    return mutants.map(({ mutant, '-': find, '+': replace }) =>
      Object.assign({ mutant, file, find: find.join('\n'), replace: replace.join('\n') }, found),
    );
  });
}

/** `row NAME`, with `with N jobs` if not 12 suffice; or test files, by name if beside the file. */
function killersOf(file: string, killers: string): Pick<NamedMutant, 'tests' | 'row'> {
  const [, name, jobs = '12'] = /^row (\S+)(?: with (\d+) jobs)?$/.exec(killers) ?? [];
  if (name !== undefined) return { tests: [], row: { name, jobs: Number(jobs) } };
  const tests = killers.split(', ');
  return { tests: tests.map((test) => (test.includes('/') ? test : join(dirname(file), test))) };
}

/**
 * Gives the changed text of a file. Throws, with the mutant's name, if the change does not fit or
 * leaves text that is not a program.
 */
export function mutate(source: string, { mutant, file, find, replace }: NamedMutant): string {
  const places = source.split(find).length - 1;
  if (places !== 1)
    throw new Error(`"${mutant}" fits ${places} places of ${file}, not one: mend its lines`);
  const mutated = source.replace(find, () => replace);
  if (mutated === source) throw new Error(`"${mutant}" changes nothing`);
  if (file.endsWith('.ts')) parse(mutant, mutated);
  return mutated;
}

function parse(mutant: string, source: string): void {
  try {
    stripTypeScriptTypes(source);
  } catch (cause) {
    throw new Error(`"${mutant}" leaves text that is not a program: ${String(cause)}`, { cause });
  }
}
