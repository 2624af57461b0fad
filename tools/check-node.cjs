// Every script of package.json and every app starts here, on any Node that the PATH gives: only syntax that the oldest one understands.
var fs = require('fs');
var path = require('path');

var script = process.env.npm_lifecycle_event || 'install';
var bin = path.join(__dirname, '..', 'node_modules', '.bin');
var installed = fs.existsSync(path.join(bin, 'jest'));
var brought = path.join(bin, 'node');
var parts = process.versions.node.split('.').map(Number);
var recentEnough = parts[0] > 22 || (parts[0] === 22 && parts[1] >= 18);

if (!installed) {
  stop('The dependencies are not installed. Run: npx -y pnpm@12 ' + script);
} else if (!recentEnough) {
  stop(
    'Paddock needs Node.js 22.18 or newer and was started with ' +
      process.versions.node +
      '.\n' +
      (fs.existsSync(brought)
        ? 'The install has brought one: run the same command with ' + brought + ' instead of node.'
        : 'The install brings one for Linux and macOS (x64, arm64); on ' +
          process.platform +
          '-' +
          process.arch +
          ' it uses yours: install a newer one and run the same command again.'),
  );
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
