import { checkPools, isGood } from './check-pools.ts';
import { readCommand, USAGE } from './command.ts';
import { describeCheck } from './describe-check.ts';

/** A command's output and exit code. */
export interface CommandResult {
  /** 0: valid; 1: the file cannot be used, or no pool serves the labels; 2: wrong command. */
  readonly code: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command that the program's arguments name. Reads only the file they name. */
export function runCommand(words: readonly string[]): CommandResult {
  const command = readCommand(words);
  if ('help' in command) return { code: 0, stdout: USAGE, stderr: '' };
  if ('problem' in command)
    return { code: 2, stdout: '', stderr: `${command.problem}\n\n${USAGE}` };
  const check = checkPools(command.file, command.labels);
  return {
    code: isGood(check) ? 0 : 1,
    stdout: command.asJson ? `${JSON.stringify(check)}\n` : describeCheck(check),
    stderr: '',
  };
}
