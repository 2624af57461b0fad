// `node apps/NAME` starts here, as the app's package.json says: a Node.js that cannot read src/main.ts would not say what is needed.
// oxlint-disable-next-line import/no-unassigned-import -- it ends a process whose Node.js is too old
require('./check-node.cjs');
var path = require('path');
var url = require('url');

// What the app throws ends the process, as it does in one that is started directly.
void import(url.pathToFileURL(path.join(process.argv[1], 'src', 'main.ts')).href);
