// `node apps/NAME` starts here, as the app's package.json says: a Node.js that cannot read src/main.ts would not say what is needed.
// oxlint-disable-next-line import/no-unassigned-import -- it ends a process whose Node.js is too old
require('./check-node.cjs');
var path = require('path');
var url = require('url');

var app = process.argv[1];

// What the app throws ends the process, as it does in one that is started directly.
void buildPage().then(function () {
  return import(url.pathToFileURL(path.join(app, 'src', 'main.ts')).href);
});

// The console started from sources has the page of these sources.
function buildPage() {
  if (path.basename(path.resolve(app)) !== 'console') return Promise.resolve();
  return import('./bundle.mjs').then(function (tools) {
    return tools.buildPage(path.join(app, 'dist'));
  });
}
