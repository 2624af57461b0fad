import { recordAuthFailure } from '@paddock/db/accounts/auth-failures';
import type { Database } from '@paddock/db/schema/tables';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';

type Refused = Pick<WorkerToProvision, 'appId' | 'installationId' | 'entityId' | 'entityType' | 'login' | 'madeForJobId' | 'deliveryGuid'>;

/** Keeps what later explains why an installation stopped working (C9). */
export async function noteRefusal(db: Kysely<Database>, worker: Refused, failure: GitHubFailure): Promise<void> {
  await recordAuthFailure(db, 'scheduler', {
    operation: failure.operation,
    httpStatus: failure.status ?? 0,
    message: failure.message,
    appId: worker.appId,
    installationId: worker.installationId,
    entityId: worker.entityId,
    entityType: worker.entityType,
    entityName: worker.login,
    jobId: worker.madeForJobId,
    deliveryGuid: worker.deliveryGuid,
  });
}
