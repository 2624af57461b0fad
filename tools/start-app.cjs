// `node apps/NAME` starts here, as the app's package.json says: a Node.js that cannot read src/main.ts would not say what is needed.
require('./check-node.cjs');
var path = require('path');
var url = require('url');

import(url.pathToFileURL(path.join(process.argv[1], 'src', 'main.ts')).href);
