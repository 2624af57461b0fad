import { checkPools, isGood } from './check-pools.ts';
import { readCommand, USAGE } from './command.ts';
import { describeCheck } from './describe-check.ts';

/** What a command prints, and the program's exit code. */
export interface CommandResult {
  /** 0: yes; 1: the file cannot be used, or no pool serves the labels; 2: the command is wrong. */
  readonly code: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command with the words behind the program's name. It reads the file that they name, and nothing else. */
export function runCommand(words: readonly string[]): CommandResult {
  const command = readCommand(words);
  if ('help' in command) return { code: 0, stdout: USAGE, stderr: '' };
  if ('problem' in command) return { code: 2, stdout: '', stderr: `${command.problem}\n\n${USAGE}` };
  const check = checkPools(command.file, command.labels);
  return {
    code: isGood(check) ? 0 : 1,
    stdout: command.asJson ? `${JSON.stringify(check)}\n` : describeCheck(check),
    stderr: '',
  };
}
