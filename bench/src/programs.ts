import { join } from 'node:path';

/** The App of all measurements; further environments have the next numbers. */
export const APP_ID = 7;

const PROGRAMS = join(import.meta.dirname, '../../packages/simulators/src/programs');

export const simulatorProgram = (name: string): string => join(PROGRAMS, `simulate-${name}.ts`);
