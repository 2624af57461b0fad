#!/usr/bin/env node
import { main } from '@paddock/runtime/main';
import { runCommand } from './run-command.ts';

await main(() => {
  const { code, stdout, stderr } = runCommand(process.argv.slice(2));
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
  return Promise.resolve();
});
