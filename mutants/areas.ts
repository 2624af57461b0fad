import { faults } from './faults.ts';
import { ingress } from './ingress.ts';
import { numbers } from './numbers.ts';
import { queue } from './queue.ts';
import { reconciler } from './reconciler.ts';
import { runtime } from './runtime.ts';
import { scheduler } from './scheduler.ts';
import { statements } from './statements.ts';

/** All named mutants; the rows of the fault matrix, which take minutes each, come last. */
export const NAMED = [...runtime, ...ingress, ...statements, ...queue, ...scheduler, ...reconciler, ...numbers, ...faults];
