// Loaded before a container's program. It shows the program the files of its pod and the names of
// the cluster's DNS, as a container would.
/* oxlint-disable node/no-process-env -- a program, which has no other input */
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const { CONTAINER_ROOT: root = '', CONTAINER_HOSTS: hosts = '{}' } = process.env;
delete process.env.CONTAINER_ROOT;
delete process.env.CONTAINER_HOSTS;

/** The machine has these folders too, and the program must not find the machine's files there. */
const NEVER_THE_MACHINES = /^\/(etc|run|var\/run)\//;
const { existsSync } = fs;
const inside = (path) =>
  typeof path === 'string' &&
  path.startsWith('/') &&
  (NEVER_THE_MACHINES.test(path) || existsSync(join(root, path)))
    ? join(root, path)
    : path;

const READERS = ['access', 'lstat', 'open', 'readdir', 'readFile', 'readlink', 'realpath', 'stat'];
const readersOf = (folder, names) => {
  for (const name of names) {
    const original = folder[name];
    folder[name] = (path, ...rest) => original.call(folder, inside(path), ...rest);
  }
};
readersOf(fs, [...READERS, ...READERS.map((name) => `${name}Sync`), 'existsSync']);
readersOf(fs.promises, READERS);

const addresses = new Map(Object.entries(JSON.parse(hosts)));
const { lookup } = dns;
dns.lookup = (name, options, answer) => {
  const address = addresses.get(name);
  if (address === undefined) return lookup(name, options, answer);
  if (options.all === true) answer(null, [{ address, family: 4 }]);
  else answer(null, address, 4);
  return undefined;
};
syncBuiltinESMExports();
