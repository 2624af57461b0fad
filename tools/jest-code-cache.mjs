// Jest compiles every module anew for each test file. Here V8's code cache of the last compilation
// serves the next file of the same worker.
import { createRequire } from 'node:module';

/** The object that Jest calls these functions on. */
const vm = createRequire(import.meta.url)('node:vm');

/**
 * By a module's path. V8 only compares the length of a source with the length that its code was
 * made from.
 */
const compiled = new Map();

export function keepCompiledCode() {
  const { SourceTextModule, compileFunction } = vm;
  vm.SourceTextModule = class extends SourceTextModule {
    constructor(source, options) {
      const cachedData = codeOf(options.identifier, source);
      super(source, { ...options, cachedData });
      if (cachedData === undefined)
        compiled.set(options.identifier, { source, code: this.createCachedData() });
    }
  };
  vm.compileFunction = (source, parameters, options) => {
    const cachedData = codeOf(options.filename, source);
    const made = compileFunction(source, parameters, {
      ...options,
      cachedData,
      produceCachedData: cachedData === undefined,
    });
    if (made.cachedData !== undefined)
      compiled.set(options.filename, { source, code: made.cachedData });
    return made;
  };
}

function codeOf(path, source) {
  const kept = compiled.get(path);
  return kept?.source === source ? kept.code : undefined;
}
