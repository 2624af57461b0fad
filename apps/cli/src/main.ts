#!/usr/bin/env node
import { main } from '@paddock/runtime/main';
import { runCommand } from './run-command.ts';

await main(async () => {
  const { code, stdout, stderr } = await runCommand(process.argv.slice(2), process.env, {
    input: process.stdin,
    output: process.stdout,
  });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
