import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { placeJob } from '@paddock/domain/pools/place-job';
import type { Transaction } from 'kysely';
import { compareBodies, type GivenBody, type KnownBody } from '../events/repeated-bodies.ts';
import {
  type InstallationMention,
  noteInstallations,
  noteOtherRepositories,
  storeInstallations,
} from '../entities/installations.ts';
import { endRefusalsOfRepositories } from '../entities/refusals.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';

/** What deliveries are judged by. */
interface Judging {
  readonly pools: CurrentPools;
  /** The ids of entities whose login belongs to another one. */
  readonly refused: ReadonlySet<number>;
}

/**
 * Stores what deliveries say that state no facts of a job, except for their events. Returns the
 * result of each, in order.
 */
export async function storeOtherDeliveries(
  trx: Transaction<Database>,
  batch: readonly GivenBody[],
  judging: Judging,
): Promise<{ outcome: Outcome; leavesRow: boolean }[]> {
  if (batch.length === 0) return [];
  const known = await compareBodies(trx, batch);
  await storeInstallations(
    trx,
    batch.flatMap(({ parsed, appId }, index) =>
      parsed.kind === 'installation' && known[index]?.isKnown !== true
        ? [{ ...parsed.statement, appId }]
        : [],
    ),
  );
  await noteOtherRepositories(
    trx,
    batch.flatMap((delivery, index) => withOtherRepositories(delivery, known[index])),
  );
  await endRefusalsOfRepositories(
    trx,
    batch.flatMap(({ parsed: { event, repoId } }, index) =>
      event.startsWith('repository.') && repoId !== null && known[index]?.isKnown !== true
        ? [repoId]
        : [],
    ),
  );
  await noteInstallations(
    trx,
    // A repeated delivery may be outdated.
    batch.flatMap((delivery, index) => (known[index]?.isKnown === true ? [] : mentionOf(delivery))),
  );
  return batch.map((delivery, index) => ({
    outcome: outcomeOf(delivery, known[index], judging),
    leavesRow: known[index]?.leavesRow !== false,
  }));
}

/**
 * The installation of a delivery that gives or takes repositories. It states nothing newer of the
 * installation itself, and the next one may have the same body. A replay has that body too, so
 * nothing else is read from it, and only as often as the body leaves events.
 */
function withOtherRepositories({ parsed, appId }: GivenBody, known: KnownBody | undefined) {
  if (parsed.kind !== 'installation' || !parsed.event.startsWith('installation_repositories.'))
    return [];
  const isNews = known?.isKnown !== true || (known.isRepeated && known.leavesRow);
  return isNews ? [{ ...parsed.statement, appId }] : [];
}

function mentionOf({ parsed, appId }: GivenBody): InstallationMention[] {
  if (parsed.kind === 'entity_name') return [{ appId, ...parsed.name, isRename: true }];
  if (parsed.kind !== 'waiting_job') return [];
  const { entity, installationId, queuedAt } = parsed.job;
  return installationId === null ? [] : [{ appId, entity, installationId, statedAt: queuedAt }];
}

function outcomeOf(
  { parsed }: GivenBody,
  known: KnownBody | undefined,
  { pools: { document }, refused }: Judging,
): Outcome {
  if (known?.isRepeated === true) return 'repeated_body';
  const isKnown = known?.isKnown === true;
  const isRefused = parsed.entity !== null && refused.has(parsed.entity.id);
  switch (parsed.kind) {
    case 'waiting_job': {
      const decision = placeJob(document, parsed.job);
      if ('ignored' in decision) return decision.ignored;
      if (isRefused) return 'refused_entity';
      return isKnown ? 'duplicate_delivery' : 'job_waiting';
    }
    case 'noted':
      return isKnown && parsed.outcome === 'ok' ? 'duplicate_delivery' : parsed.outcome;
    case 'installation':
    case 'entity_name':
      if (isRefused) return 'refused_entity';
      return isKnown ? 'duplicate_delivery' : 'ok';
    case 'job':
      throw new Error('A delivery that states something of a job is stored with the job.');
    default:
      return parsed satisfies never;
  }
}
