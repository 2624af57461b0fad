import type { Command } from './command.ts';

const line = ({ name, takes, options }: Command): string =>
  [
    `paddock ${name}`,
    takes,
    ...Object.entries(options).map(
      ([option, { value }]) => `[--${option}${value === undefined ? '' : ` ${value}`}]`,
    ),
  ]
    .filter((part) => part !== '')
    .join(' ');

/** Its words, and the first sentence that says what it does. */
const brief = ({ name, takes, summary }: Command): string => {
  const [sentence = ''] = summary.replaceAll('\n', ' ').split(/(?<=\.) /);
  return `  ${`paddock ${name} ${takes}`.trim()}\n      ${sentence}\n`;
};

/** What each command is for. */
export const usageOfAll = (commands: readonly Command[]): string =>
  `Usage:
${commands.map(brief).join('')}
\`paddock COMMAND --help\` explains one and its options. All but \`pools check\` and
\`completion\` ask one of two, with the same answers:
  DATABASE_URL   the database, as its login may; PADDOCK_SCHEMA unless the schema is \`paddock\`
  PADDOCK_URL    the API of a console, as PADDOCK_TOKEN may: https://paddock.example.com
`;

/** One command, its options and its exit codes. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, { value, doc }]) =>
      [`--${name}${value === undefined ? '' : ` ${value}`}`, doc] as const,
  );
  const width = Math.max(0, ...options.map(([option]) => option.length));
  return `Usage: ${line(command)}

${command.summary}
${options.length === 0 ? '' : '\n'}${options
    .map(([option, doc]) => `  ${option.padEnd(width)}   ${doc}\n`)
    .join('')}
Exit code: 0 if done, 1 if it could not be done or the answer is no, 2 if the command is wrong.
`;
}
