// Jest makes modules with this class of node:vm. Here they also note what each module imports.
import { createRequire } from 'node:module';

/** The object whose class Jest uses. */
const vm = createRequire(import.meta.url)('node:vm');

const imports = new WeakMap();

/** The modules that a module imports, once it is linked. */
export const importsOf = (module) => imports.get(module) ?? [];

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
