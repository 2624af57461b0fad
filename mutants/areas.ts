import { away } from './away.ts';
import { connection } from './connection.ts';
import { consoleApi } from './console.ts';
import { consoleAccess } from './console-access.ts';
import { consoleActs } from './console-acts.ts';
import { failing } from './failing.ts';
import { faults } from './faults.ts';
import { following } from './following.ts';
import { ingress } from './ingress.ts';
import { numbers } from './numbers.ts';
import { oneHit } from './one-hit.ts';
import { queue } from './queue.ts';
import { reconciler } from './reconciler.ts';
import { redelivery } from './redelivery.ts';
import { registrations } from './registrations.ts';
import { runtime } from './runtime.ts';
import { schema } from './schema.ts';
import { scheduler } from './scheduler.ts';
import { statements } from './statements.ts';
import { stopping } from './stopping.ts';
import { told } from './told.ts';

/** All named mutants; the rows of the fault matrix, which take minutes each, come last. */
export const NAMED = [
  ...runtime,
  ...away,
  ...ingress,
  ...connection,
  ...schema,
  ...statements,
  ...told,
  ...queue,
  ...scheduler,
  ...following,
  ...stopping,
  ...consoleApi,
  ...consoleAccess,
  ...consoleActs,
  ...reconciler,
  ...registrations,
  ...redelivery,
  ...numbers,
  ...failing,
  ...faults,
  ...oneHit,
];
