import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import {
  type IgnoredJob,
  type PlacedJob,
  placeJob,
  poolsClosedTo,
  poolsNamingLogin,
} from '@paddock/domain/pools/place-job';
import { admittingLogin, type PoolsDocument } from '@paddock/domain/pools/pools-document';

/** A statement about a job, with what a pools document says of the job. */
export interface JobToStore {
  readonly facts: DeliveredStatement;
  /** Without a pool the job is stored only if it has a row or runs on one of our workers. */
  readonly place: PlacedJob | IgnoredJob;
  /**
   * The login, in lower case, by which its entity is admitted: it has to be this entity's own
   * (`login_pins`).
   */
  readonly byLogin: string | undefined;
  /** Pools that do not serve such jobs: a worker of theirs that runs it is misused. */
  readonly closedPools: readonly string[];
  /**
   * Pools that name its entity's login: they do not serve it either if that is another entity's.
   */
  readonly namingPools: readonly string[];
  /** As in DeliveryToRecord; null without a delivery. */
  readonly bodyDigest: string | null;
}

/** What `document` says of a job; its place may be given. */
export function jobToStore(
  document: PoolsDocument,
  facts: DeliveredStatement,
  place: PlacedJob | IgnoredJob = placeJob(document, facts),
  bodyDigest: string | null = null,
): JobToStore {
  const hasRunner = facts.runnerName !== null;
  return {
    facts,
    place,
    byLogin: 'ignored' in place ? undefined : admittingLogin(document, facts.entity, place),
    closedPools: hasRunner ? poolsClosedTo(document, facts) : [],
    namingPools: hasRunner ? poolsNamingLogin(document, facts) : [],
    bodyDigest,
  };
}
