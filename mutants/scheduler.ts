import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const scheduler: readonly NamedMutant[] = [];
