// Jest loads every module anew for each test file. Here a worker keeps the evaluated modules, ours
// and the packages', for its next test files: to load them took 0.2 s of CPU time for each file.
// A module that imports Jest's functions belongs to its test file, and so do all that import it:
// these are loaded anew. So no other module may keep state that one test file hands to the next.
import { createRequire } from 'node:module';
import Runtime from 'jest-runtime';

/** The object whose class Jest uses. */
const vm = createRequire(import.meta.url)('node:vm');

const imports = new WeakMap();

/** The modules that a module imports, once it is linked. */
const importsOf = (module) => imports.get(module) ?? [];

// Jest makes modules with this class of node:vm. Here they also note what each module imports.
vm.SourceTextModule = class extends vm.SourceTextModule {
  linkRequests(linked) {
    imports.set(this, linked);
    super.linkRequests(linked);
  }

  /** Jest calls this one where Node.js has no `linkRequests`, as 22. */
  link(linker) {
    return super.link(async (specifier, importer, extra) => {
      const module = await linker(specifier, importer, extra);
      imports.set(importer, [...importsOf(importer), module]);
      return module;
    });
  }
};

/** Evaluated ES modules, CommonJS modules and Jest's own modules, by Jest's keys. */
const modules = new Map();
const commonModules = new Map();
const jestModules = new Map();

/** That of the running test file. */
let current;

/** Jest's functions; and `createRequire`, whose functions end with the test file. */
const OF_ONE_FILE = /^@jest\/globals|^(node:)?module$|\.test\.ts$/;

/** Of Jest's own modules, those with the tests, hooks and expectations of a file. */
const JEST_OF_ONE_FILE = /[\\/](jest-circus|expect)[\\/]build[\\/]/;

export default class KeepingRuntime extends Runtime {
  #keeps;

  constructor(...args) {
    super(...args);
    const { collectCoverage, watch, watchAll } = args.at(-1);
    // Modules change between two runs of a watch, and Jest counts the coverage of new ones alone.
    this.#keeps = !(collectCoverage || watch || watchAll);
    current = this;
    if (!this.#keeps) return;
    for (const [key, module] of modules) this.registries.getActiveEsmRegistry().set(key, module);
    for (const [key, module] of commonModules)
      this.registries.getActiveCjsRegistry().set(key, module);
    for (const [key, module] of jestModules)
      this.registries.getInternalCjsRegistry().set(key, module);
  }

  /** A kept module may call `require` after the end of the test file that loaded it. */
  requireModuleOrMock(...args) {
    return current === this
      ? super.requireModuleOrMock(...args)
      : current.requireModuleOrMock(...args);
  }

  requireInternalModule(...args) {
    return current === this
      ? super.requireInternalModule(...args)
      : current.requireInternalModule(...args);
  }

  teardown() {
    if (this.#keeps) this.#keepModules();
    super.teardown();
  }

  #keepModules() {
    const judged = new Map();
    const isOfFile = (module) => {
      if (!judged.has(module)) {
        judged.set(module, false); // in a cycle, the others decide
        judged.set(
          module,
          module.status !== 'evaluated' ||
            OF_ONE_FILE.test(module.identifier) ||
            importsOf(module).some(isOfFile),
        );
      }
      return judged.get(module);
    };
    for (const [key, module] of this.registries.getActiveEsmRegistry())
      if (!isOfFile(module)) modules.set(key, module);
    for (const [key, module] of this.registries.getActiveCjsRegistry())
      if (module.loaded) commonModules.set(key, module);
    for (const [key, module] of this.registries.getInternalCjsRegistry())
      if (module.loaded && !JEST_OF_ONE_FILE.test(key)) jestModules.set(key, module);
  }
}
