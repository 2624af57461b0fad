import { recordRefusal } from '@paddock/db/breakers/refusals';
import type { BreakerSubject } from '@paddock/db/breakers/breaker-subjects';
import type { Noting } from '@paddock/db/breakers/note-failure';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';

type Refused = Pick<
  WorkerToProvision,
  'appId' | 'installationId' | 'entityId' | 'entityType' | 'login' | 'scopeRepoId' | 'madeForJobId' | 'deliveryGuid'
>;

/** Keeps what later explains why an installation stopped working (C9). Returns what the refusal speaks of, if no service asks there now. */
export async function noteRefusal(noting: Noting, worker: Refused, refusal: GitHubFailure): Promise<BreakerSubject | undefined> {
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  return recordRefusal(noting, 'scheduler', { call, refusal });
}
