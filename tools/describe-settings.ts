import type { Declarations, Setting } from '@paddock/runtime/settings';

/** The variables of some programs in one table, with one row for each name (H6). */
export function describeSettings(programs: Readonly<Record<string, Declarations>>): string {
  const named = Object.entries(programs).flatMap(([program, declared]) =>
    Object.values(declared).map((setting) => ({ setting, program })),
  );
  const rows = [...Map.groupBy(named, ({ setting }) => setting.env).values()].map(rowOf);
  return [
    '| Name | Default | Allowed | Read by | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The programs that read a setting declare it alike, but for the defaults of ports. */
function rowOf(
  declared: readonly { readonly setting: Setting<unknown>; readonly program: string }[],
): string {
  const defaults = new Set(declared.map(({ setting }) => defaultOf(setting)));
  const programs = declared.map(({ program }) => program).join(', ');
  const rows = declared.slice(0, 1).map(({ setting }) => {
    const cells = [nameOf(setting), [...defaults].join(', '), setting.range ?? '', programs];
    return `| ${[...cells, setting.doc].map(cell).join(' | ')} |`;
  });
  return rows.join('');
}

const nameOf = ({ env, aliases = [] }: Setting<unknown>): string =>
  aliases.length === 0
    ? `\`${env}\``
    : `\`${env}\` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;

function defaultOf(setting: Setting<unknown>): string {
  if (!('default' in setting)) return setting.secret === true ? 'required, secret' : 'required';
  const value = setting.default;
  if (value === undefined) return 'not set';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** A bar or a line break would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
