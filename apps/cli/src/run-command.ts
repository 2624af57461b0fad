import { parseArgs } from 'node:util';
import { closestName } from '@paddock/runtime/closest-name';
import type { Environment } from '@paddock/runtime/settings';
import { type Command, type CommandResult, type Terminal, WrongUsage } from './command.ts';
import { COMMANDS } from './commands.ts';
import { usageOf, usageOfAll } from './help.ts';

/** Runs the command that the program's arguments name. */
export async function runCommand(
  words: readonly string[],
  environment: Environment,
  terminal?: Terminal,
): Promise<CommandResult> {
  if (words[0] === 'help') return runCommand([...words.slice(1), '--help'], environment, terminal);
  const command = COMMANDS.find(({ name }) => {
    const parts = name.split(' ');
    return parts.every((part, n) => words[n] === part);
  });
  if (command === undefined) {
    const usage = usageOfAll(COMMANDS);
    if (words.some((word) => word === '--help' || word === '-h'))
      return { code: 0, stdout: usage, stderr: '' };
    return { code: 2, stdout: '', stderr: `${noCommand(words)}\n\n${usage}` };
  }
  try {
    const given = parse(command, words);
    if (given.options['help'] === true) return { code: 0, stdout: usageOf(command), stderr: '' };
    return await command.run({ ...given, environment, terminal });
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    return { code: 2, stdout: '', stderr: `${error.message}\n\n${usageOf(command)}` };
  }
}

/** That there is no such command, and which one may be meant. */
function noCommand(words: readonly string[]): string {
  const names = COMMANDS.map(({ name }) => name);
  const written = words.slice(0, 2).filter((word) => !word.startsWith('-'));
  // What follows a command's name may be a word that it takes.
  const meant = closestName(written.join(' '), names) ?? closestName(written[0] ?? '', names);
  const said = `There is no command "${words.slice(0, 2).join(' ')}".`;
  return meant === undefined ? said : `${said} Did you mean \`paddock ${meant}\`?`;
}

function parse({ name, options }: Command, words: readonly string[]) {
  const { args, ago } = withoutAgo(words.slice(name.split(' ').length), options);
  const { values, positionals, tokens } = parsed(args, options);
  // Node would take the last one, and drop what the person asked for before.
  const named = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const twice = named.find((one, index) => named.indexOf(one) < index);
  if (twice !== undefined) throw new WrongUsage(`--${twice} is given twice.`);
  return { words: [...positionals, ...ago], options: values };
}

function parsed(args: string[], options: Command['options']) {
  try {
    return parseArgs({
      args,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      tokens: true,
    });
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const AGO = /^-\d+[dh]$/;

/**
 * Node takes `-7d` for options of one letter each. Behind an option with a value it is that value,
 * else a word of its own.
 */
function withoutAgo(
  words: readonly string[],
  options: Command['options'],
): { args: string[]; ago: string[] } {
  const [args, ago]: [string[], string[]] = [[], []];
  for (const word of words) {
    const before = args.at(-1) ?? '';
    if (!AGO.test(word)) args.push(word);
    else if (options[before.replace(/^--/, '')]?.type === 'string')
      args[args.length - 1] = `${before}=${word}`;
    else ago.push(word);
  }
  return { args, ago };
}
