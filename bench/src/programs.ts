import { join } from 'node:path';
import { bundledProgram } from '@paddock/testing/bundled-program';

/** The App of all measurements; further environments have the next numbers. */
export const APP_ID = 7;

const ROOT = join(import.meta.dirname, '..', '..');

export const appProgram = (app: string): string =>
  bundledProgram(app, join(ROOT, 'apps', app, 'src', 'main.ts'));

export const simulatorProgram = (name: string): string =>
  join(ROOT, 'packages', 'simulators', 'src', 'programs', `${name}.ts`);
