import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { isTransient, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { createSecret } from '@paddock/kube/secrets';
import { pause } from '@paddock/runtime/pause';
import { requireLease } from '../require-lease.ts';
import { secretOf } from './manifests.ts';
import type { Starting } from './start-pod.ts';
import type { Run } from './while-away.ts';

/**
 * Puts the JIT config where only the worker's pod reads it. One that is there already is ours: one run only ever gets a JIT config. What passes
 * within seconds is waited out here, for nobody could have the JIT config a second time. Returns why it could not be put; the Secret may be
 * there all the same, if only its answer was lost.
 */
export async function putSecret(
  { cluster }: Pick<Starting, 'cluster'>,
  worker: WorkerToProvision,
  jitConfig: string,
  { task, signal }: Run,
): Promise<KubeFailure | undefined> {
  const secret = secretOf(worker, jitConfig);
  for (let tries = 0; ; tries += 1) {
    requireLease(task);
    try {
      await createSecret(cluster, secret);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === undefined || !isTransient(error.failure)) return error.failure;
      await pause(Math.max(pauseMs, error.failure.retryAfterMs ?? 0), signal);
      signal.throwIfAborted();
    }
  }
}

const PAUSES_MS = [250, 500, 1_000];
