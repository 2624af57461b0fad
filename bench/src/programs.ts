import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

export const appProgram = (app: string): string => join(ROOT, 'apps', app, 'src', 'main.ts');

export const simulatorProgram = (name: string): string => join(ROOT, 'packages', 'simulators', 'src', 'programs', `${name}.ts`);
