import { parseArgs } from 'node:util';
import type { Environment } from '@paddock/runtime/settings';
import { type Command, type CommandResult, WrongUsage } from './command.ts';
import { COMMANDS } from './commands.ts';
import { usageOf, usageOfAll } from './usage.ts';

/** Runs the command that the program's arguments name. */
export async function runCommand(
  words: readonly string[],
  environment: Environment,
): Promise<CommandResult> {
  const command = COMMANDS.find(({ name }) => {
    const parts = name.split(' ');
    return parts.every((part, n) => words[n] === part);
  });
  if (command === undefined) {
    const usage = usageOfAll(COMMANDS);
    if (words.some((word) => word === '--help' || word === '-h'))
      return { code: 0, stdout: usage, stderr: '' };
    const unknown = words.slice(0, 2).join(' ');
    return { code: 2, stdout: '', stderr: `There is no command "${unknown}".\n\n${usage}` };
  }
  try {
    const given = parse(command, words);
    if (given.options['help'] === true) return { code: 0, stdout: usageOf(command), stderr: '' };
    return await command.run({ ...given, environment });
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    return { code: 2, stdout: '', stderr: `${error.message}\n\n${usageOf(command)}` };
  }
}

function parse({ name, options }: Command, words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: words.slice(name.split(' ').length),
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    return { words: positionals, options: values };
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
