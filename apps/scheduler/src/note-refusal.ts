import { recordRefusal } from '@paddock/db/accounts/refusals';
import type { Noting } from '@paddock/db/matching/breakers';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';

type Refused = Pick<
  WorkerToProvision,
  'appId' | 'installationId' | 'entityId' | 'entityType' | 'login' | 'scopeRepoId' | 'madeForJobId' | 'deliveryGuid'
>;

/** Keeps what later explains why an installation stopped working (C9). */
export async function noteRefusal(noting: Noting, worker: Refused, refusal: GitHubFailure): Promise<void> {
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  await recordRefusal(noting, 'scheduler', { call, refusal });
}
