import { expect, test } from '@jest/globals';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ConfigError } from '@paddock/runtime/config-error';
import { useFolder } from '@paddock/testing/use-folder';
import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PAGES = globSync(['README.md', 'docs/**/*.md', 'deploy/**/*.md'], { cwd: ROOT });

/** The blocks of a language on a page. */
function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\``, 'gms'));
  return [...blocks].map(([, , block = '']) => block);
}

const folder = useFolder();

/** What a page writes for what its reader knows. */
const KNOWN: Readonly<Record<string, string>> = {
  ID: '1',
  EVENT: '1',
  GUID: '0b989ba4-242f-11e5-81e1-c7b6966d2516',
  // `paddock init` writes it.
  'values.yaml': join(folder, 'values.yaml'),
};

/** The commands of the terminal in the shell's blocks of a page, without comments. */
function commandsIn(page: string): string[][] {
  return blocksOf(page, 'sh').flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, ' ')
      .split(/\n|&&/)
      .flatMap(
        (line) =>
          /^\s*(?:.* -- node \S*main\.mjs|npx -y pnpm@12 paddock|paddock) +([^#|>]*)/.exec(
            line,
          )?.[1] ?? [],
      )
      .map((words) =>
        [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? ''),
      ),
  );
}

test('each command on a page is one that the terminal knows (H6)', async () => {
  const commands = PAGES.flatMap((page) => commandsIn(page).map((words) => ({ page, words })));
  const unknown: string[] = [];
  for (const { page, words } of commands) {
    // No API answers here, which a command says once it has understood its words.
    const result = await runCommand(
      words.map((word) => KNOWN[word] ?? word),
      {},
    ).catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error;
    });
    if (result?.code === 2) unknown.push(`${page}: ${words.join(' ')}: ${result.stderr}`);
  }
  expect(unknown).toEqual([]);
  expect(commands.length).toBeGreaterThan(50);
});

test('each list of pools on a page can be used (H6)', async () => {
  const file = join(folder, 'paddock.yaml');
  const rest = {
    github: { apps: [{ id: 1, webhookSecret: { env: 'A' }, privateKey: { env: 'B' } }] },
    entities: { acme: {} },
  };
  const files = PAGES.flatMap((page) =>
    blocksOf(page, 'yaml').flatMap((block) => {
      const values = parse(block, { merge: true }) as { pools?: unknown; config?: object } | null;
      const config = values?.config ?? values;
      return config !== null && 'pools' in config ? [{ page, text: { ...rest, ...config } }] : [];
    }),
  );
  const refused: string[] = [];
  for (const { page, text } of files) {
    writeFileSync(file, stringify(text));
    const { code, stdout, stderr } = await runCommand(['pools', 'check', file], {});
    if (code !== 0) refused.push(`${page}: ${stdout}${stderr}`);
  }
  expect(refused).toEqual([]);
  expect(files.length).toBeGreaterThan(5);
});
