import { z } from 'zod';
import {
  type EntityName,
  type InstallationStatement,
  readInstallation,
  readInstallationTarget,
} from './installation-event.ts';
import { describeIssues, entity, type Entity, id } from './payload-fields.ts';
import { isWorkflowJobAction, type JobStatement, readWorkflowJob } from './workflow-job-event.ts';

/** The subject of a delivery; null where the delivery does not say. */
interface About {
  /** `{X-GitHub-Event}.{action}`, or the name alone without an action. */
  readonly event: string;
  readonly installationId: number | null;
  readonly entity: Entity | null;
  readonly repoId: number | null;
}

/** A delivery, reduced to the fields that Paddock uses. */
export type ParsedDelivery = About &
  (
    | { readonly kind: 'job'; readonly job: JobStatement }
    /** The job waits for an approval, so it is no demand. */
    | { readonly kind: 'waiting_job'; readonly job: JobStatement }
    | { readonly kind: 'installation'; readonly statement: InstallationStatement }
    | { readonly kind: 'entity_name'; readonly name: EntityName }
    | { readonly kind: 'noted'; readonly outcome: 'ok' | 'ignored_event' | 'ignored_action' }
  );

export type Malformed = { readonly kind: 'malformed'; readonly problem: string };

/** The events that Paddock handles. It only records others. */
export const HANDLED_EVENTS = [
  'workflow_job',
  'installation',
  'installation_repositories',
  'installation_target',
  'ping',
] as const;

/**
 * Reads a delivery's decoded body. It is malformed if a required field is missing, or if it belongs
 * to another event. Does not throw.
 */
export function parseDelivery(event: string, body: unknown): ParsedDelivery | Malformed {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { kind: 'malformed', problem: 'the body is not a JSON object' };
  const misnamed = whyMisnamed(event, body);
  if (misnamed !== undefined)
    return { kind: 'malformed', problem: `it is called ${event}, but ${misnamed}` };
  try {
    return readEvent(event, body);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return {
      kind: 'malformed',
      problem: `the body is not a ${event} payload: ${describeIssues(error)}`,
    };
  }
}

function readEvent(event: string, body: object): ParsedDelivery {
  const action =
    'action' in body && typeof body.action === 'string' && body.action !== ''
      ? body.action
      : undefined;
  const name = action === undefined ? event : `${event}.${action}`;
  // First, because most deliveries are of this event.
  if (event === 'workflow_job' && action !== undefined && isWorkflowJobAction(action)) {
    const job = readWorkflowJob(action, body);
    const { entity: owner, repoId, installationId } = job;
    return {
      event: name,
      entity: owner,
      repoId,
      installationId,
      kind: action === 'waiting' ? 'waiting_job' : 'job',
      job,
    };
  }
  const about = { ...aboutOf(body), event: name };
  switch (event) {
    case 'workflow_job':
      return { ...about, kind: 'noted', outcome: 'ignored_action' };
    case 'installation':
    case 'installation_repositories': {
      const { installationId, statement } = readInstallation(action ?? '', body);
      if (statement === undefined)
        return { ...about, installationId, entity: null, kind: 'noted', outcome: 'ok' };
      return {
        ...about,
        installationId,
        entity: statement.entity,
        kind: 'installation',
        statement,
      };
    }
    case 'installation_target': {
      const renamed = readInstallationTarget(body);
      if (renamed === undefined) return { ...about, kind: 'noted', outcome: 'ok' };
      return {
        ...about,
        installationId: renamed.installationId,
        entity: renamed.entity,
        kind: 'entity_name',
        name: renamed,
      };
    }
    case 'ping':
      return { ...about, kind: 'noted', outcome: 'ok' };
    default:
      return { ...about, kind: 'noted', outcome: 'ignored_event' };
  }
}

const organization = z.object({ id, login: z.string().min(1) });
const repository = z.object({ id, owner: entity });
const installation = z.object({ id });

/** The subject of any event: the fields that all of GitHub's payloads share, if present. */
function aboutOf(body: object): Omit<About, 'event'> {
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const owned = repository.safeParse(fields['repository']).data;
  const org = organization.safeParse(fields['organization']).data;
  return {
    installationId: installation.safeParse(fields['installation']).data?.id ?? null,
    entity: owned?.owner ?? (org === undefined ? null : { ...org, type: 'Organization' }),
    repoId: owned?.id ?? null,
  };
}

/**
 * Says why a body cannot belong to this event, whose header is not signed. Undefined if it can.
 * Each checked field is in every body of its event and in no other, so no delivery of GitHub's is
 * refused.
 */
export function whyMisnamed(event: string, body: object): string | undefined {
  if (event !== 'workflow_job' && 'workflow_job' in body)
    return 'the body is a workflow_job payload';
  const isOfRepositories = 'repositories_added' in body || 'repositories_removed' in body;
  switch (event) {
    case 'installation':
      if (isOfRepositories) return 'the body is an installation_repositories payload';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    case 'installation_repositories':
      if (!isOfRepositories)
        return 'the body has neither repositories_added nor repositories_removed';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    default:
      return undefined;
  }
}

/** Other events have an installation too, but only with its ids. */
const hasWholeInstallation = (body: object): boolean =>
  'installation' in body &&
  typeof body.installation === 'object' &&
  body.installation !== null &&
  ('account' in body.installation || 'app_id' in body.installation);
