// Jest makes modules with these functions of node:vm. Here they also note what each module imports,
// and V8's own code of a module's last time serves the next test file of the same worker.
import { createRequire } from 'node:module';

/** The object that Jest calls these functions on. */
const vm = createRequire(import.meta.url)('node:vm');

/** By a module's path. V8 compares no more than the length of a source with that of its code. */
const compiled = new Map();

const imports = new WeakMap();

/** The modules that a module imports, once it is linked. */
export const importsOf = (module) => imports.get(module) ?? [];

const { SourceTextModule, compileFunction } = vm;

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    const cachedData = codeOf(options.identifier, source);
    super(source, { ...options, cachedData });
    if (cachedData === undefined)
      compiled.set(options.identifier, { source, code: this.createCachedData() });
  }

  linkRequests(linked) {
    imports.set(this, linked);
    super.linkRequests(linked);
  }

  /**
   * Jest calls this one where Node.js has no `linkRequests`, as 22. It also links what is imported.
   */
  link(linker) {
    return super.link(async (specifier, importer, extra) => {
      const module = await linker(specifier, importer, extra);
      imports.set(importer, [...importsOf(importer), module]);
      return module;
    });
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

function codeOf(path, source) {
  const kept = compiled.get(path);
  return kept?.source === source ? kept.code : undefined;
}
