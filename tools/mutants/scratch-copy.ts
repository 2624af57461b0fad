import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

export interface ScratchCopy {
  readonly path: string;
  readonly remove: () => void;
}

/**
 * Copies the files of a checkout that Git knows or would add, with their present contents, to a
 * folder where mutants can be tried.
 */
export function makeScratchCopy(root: string): ScratchCopy {
  // Jest knows files by their real path.
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-mutants-')));
  const path = join(place, 'checkout');
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, encoding: 'utf8' },
  );
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  for (const file of files) cpSync(join(root, file), join(path, file));
  for (const file of files.filter((name) => basename(name) === 'package.json'))
    copyModules(join(root, dirname(file)), join(path, dirname(file)));
  return { path, remove: () => rmSync(place, { recursive: true, force: true }) };
}

/**
 * Copies the links of a folder's node_modules. They are relative, so links to packages of the
 * workspace lead to the copies of these packages. Foreign packages, in `.pnpm`, are shared with the
 * checkout.
 */
function copyModules(from: string, to: string): void {
  const [modules, copy] = [join(from, 'node_modules'), join(to, 'node_modules')];
  if (!existsSync(modules)) return;
  cpSync(modules, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (entry) => basename(entry) !== '.pnpm',
  });
  if (existsSync(join(modules, '.pnpm'))) symlinkSync(join(modules, '.pnpm'), join(copy, '.pnpm'));
}
