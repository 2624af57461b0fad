import type { Kinds } from '@paddock/queue/kind';
import { createDiagnosePod } from './diagnose-pod.ts';
import { createProvisionWorker, type Provisioning } from './provision-worker.ts';
import { createRemoveSecret } from './remove-secret.ts';
import { KIND } from './tasks.ts';

/** The kinds that the scheduler runs, with how many of each at once in one process. */
export const schedulerKinds = (parts: Provisioning): Kinds => ({
  [KIND.provisionWorker]: { handler: createProvisionWorker(parts), slots: 16 },
  [KIND.diagnosePod]: { handler: createDiagnosePod(parts), slots: 4 },
  [KIND.removeSecret]: { handler: createRemoveSecret(parts), slots: 4 },
});
