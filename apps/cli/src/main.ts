#!/usr/bin/env node
import { main } from '@paddock/runtime/main';
import { readCommand, USAGE } from './command.ts';
import { checkPools, isGood } from './check-pools.ts';
import { describeCheck } from './describe-check.ts';

/** 0: yes; 1: the file cannot be used, or no pool serves the labels; 2: this program was called wrongly. */
await main(() => {
  const command = readCommand(process.argv.slice(2));
  if ('help' in command) process.stdout.write(USAGE);
  else if ('problem' in command) {
    process.stderr.write(`${command.problem}\n\n${USAGE}`);
    process.exitCode = 2;
  } else {
    const check = checkPools(command.file, command.labels);
    process.stdout.write(command.asJson ? `${JSON.stringify(check)}\n` : describeCheck(check));
    process.exitCode = isGood(check) ? 0 : 1;
  }
  return Promise.resolve();
});
