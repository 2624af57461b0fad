import type { Environment } from '@paddock/runtime/settings';
import { Command as Parser, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Command, type CommandResult, type Terminal, WrongUsage } from './command.ts';
import { COMMANDS } from './commands.ts';
import { printWords } from './completion.ts';

const PLACES = `
All but \`init\`, \`doctor\`, \`app\`, \`pools check\`, \`pools import\` and \`completion\` ask one of two, with the same answers:
  DATABASE_URL   the database, as its login may; PADDOCK_SCHEMA unless the schema is \`paddock\`
  PADDOCK_URL    the API of a console, as PADDOCK_TOKEN may: https://paddock.example.com

Exit code: 0 if done, 1 if it could not be done or the answer is no, 2 if the command is wrong.`;

export async function runCommand(
  words: readonly string[],
  environment: Environment,
  terminal?: Terminal,
): Promise<CommandResult> {
  if (words[0] === 'help') return runCommand([...words.slice(1), '--help'], environment, terminal);
  // As the shells' scripts ask: `paddock complete -- WORDS`.
  if (words[0] === 'complete') {
    printWords(COMMANDS, words.slice(2));
    return { code: 0, stdout: '', stderr: '' };
  }
  let [stdout, stderr] = ['', ''];
  let result: CommandResult | undefined;
  const program = new Parser('paddock')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (stdout += text),
      writeErr: (text) => (stderr += text),
    })
    .configureHelp({
      commandUsage: (parser) => `${lineOf(parser)} [options]`,
      visibleCommands: (parser) => parser.commands.flatMap(withThoseBelow),
      subcommandTerm: lineOf,
      subcommandDescription: (parser) => parser.description().split(/(?<=\.) /, 1)[0] ?? '',
    })
    .helpCommand(false)
    // `operations failed` has options of the names of those of `operations`.
    .enablePositionalOptions()
    .showHelpAfterError()
    .addHelpText('after', PLACES);
  for (const command of COMMANDS) {
    const parser = parserOf(program, command);
    parser.action(async () => {
      const given = { words: parser.args, options: parser.opts(), environment, terminal };
      try {
        result = await command.run(given);
      } catch (error) {
        if (error instanceof WrongUsage) parser.error(error.message);
        throw error;
      }
    });
  }
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { code: error.exitCode === 0 ? 0 : 2, stdout, stderr };
  }
  return result ?? { code: 0, stdout, stderr };
}

/** The parser of a command, below those of the words before in its name. */
function parserOf(program: Parser, { name, takes, summary, options }: Command): Parser {
  const parser = name
    .split(' ')
    .reduce(childOf, program)
    .description(summary.replaceAll('\n', ' '));
  if (takes !== '') parser.argument(takes.startsWith('[') ? takes : `<${takes}>`);
  // Else `-7d` would be an option.
  if (takes === 'DATE') parser.allowUnknownOption();
  for (const [option, { value, doc }] of Object.entries(options))
    parser.addOption(
      value === undefined
        ? new Option(`--${option}`, doc)
        : new Option(`--${option} <${value}>`, doc).argParser(onlyOne),
    );
  return parser;
}

/** A command as one calls it: its words, and what it takes. */
const lineOf = (parser: Parser): string =>
  [nameOf(parser), ...parser.registeredArguments.map((argument) => argument.name())].join(' ');

const nameOf = (parser: Parser): string =>
  parser.parent === null ? parser.name() : `${nameOf(parser.parent)} ${parser.name()}`;

const withThoseBelow = (parser: Parser): Parser[] => [
  parser,
  ...parser.commands.flatMap(withThoseBelow),
];

const childOf = (parent: Parser, word: string): Parser =>
  parent.commands.find((child) => child.name() === word) ?? parent.command(word).helpCommand(false);

/** Of two, the last one would be taken, and the person may have meant the first. */
function onlyOne(value: string, before: string | undefined): string {
  if (before !== undefined) throw new InvalidArgumentError('It is given twice.');
  return value;
}
