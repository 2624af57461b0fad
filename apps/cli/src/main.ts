#!/usr/bin/env node
import { main } from '@paddock/runtime/run';
import { runCommand } from './run-command.ts';

// Whoever reads the output may have seen enough, as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

await main(async () => {
  const { code, stdout, stderr } = await runCommand(process.argv.slice(2), process.env, {
    input: process.stdin,
    output: process.stdout,
    notes: process.stderr,
  });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
