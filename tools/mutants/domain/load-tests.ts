import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type NotedTest, takeNoted } from './jest-globals.ts';

const GLOBALS = import.meta.resolve('./jest-globals.ts');

export interface TestFile {
  readonly tests: readonly NotedTest[];
  /** URLs of the domain's files that it imports, directly or not. */
  readonly imports: ReadonlySet<string>;
}

/**
 * Gives a function that loads a test file of the domain with new instances of all the domain's
 * modules that it imports. So nothing that one mutant has left in a module reaches the next.
 * Modules outside the domain are loaded once.
 */
export function createLoader(domain: string): (file: string) => Promise<TestFile> {
  const ours = pathToFileURL(join(domain, '/')).href;
  let load = 0;
  let imports = new Set<string>();
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
      const resolved = next(specifier, context);
      if (!resolved.url.startsWith(ours)) return resolved;
      const [url = ''] = resolved.url.split('?');
      imports.add(url);
      return { ...resolved, url: `${url}?load=${load}` };
    },
  });
  return async (file) => {
    load += 1;
    imports = new Set();
    await import(pathToFileURL(file).href);
    return { tests: takeNoted(), imports };
  };
}
