import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const reconciler: readonly NamedMutant[] = [];
