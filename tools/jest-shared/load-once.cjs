// Node itself loads these packages, once for all test files of a worker: Jest would load hundreds of
// modules for each file. Such a package keeps no state, and never asks for `instanceof Promise` or the
// like: each test file has globals of its own.
const { join } = require('node:path');
const { runInThisContext } = require('node:vm');

/** Of Node, where `require` here is Jest's. */
const { createRequire } = runInThisContext('process').getBuiltinModule('node:module');

/** Loads what `name` means in the package of ours in `folder`. */
exports.loadOnce = (folder, name) =>
  createRequire(join(__dirname, '..', '..', 'packages', folder, 'package.json'))(name);
