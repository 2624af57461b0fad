// The Kubernetes client as Node itself loads it, once for all test files of a worker: 867 modules of 17 MB that keep no state.
const { join } = require('node:path');
const { runInThisContext } = require('node:vm');

/** Of Node, where `require` here is Jest's. */
const { createRequire } = runInThisContext('process').getBuiltinModule('node:module');

module.exports = createRequire(join(__dirname, '..', 'packages', 'kube', 'package.json'))('@kubernetes/client-node');
