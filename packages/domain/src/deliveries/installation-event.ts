import { z } from 'zod';
import { entity, type Entity, id, instant, optionalText } from './payload-fields.ts';

export interface InstallationStatement {
  readonly entity: Entity;
  readonly installationId: number;
  /** `all` or `selected`; null if absent. */
  readonly repositorySelection: string | null;
  readonly suspendedAt: string | null;
  readonly isDeleted: boolean;
  /** The payload's instant; null if absent. Then its arrival counts. */
  readonly statedAt: string | null;
}

const installationPayload = z.object({
  installation: z.object({
    id,
    // An enterprise's installation has an entity without a login, or none. It cannot have runners.
    account: z.union([
      entity,
      z
        .object({ id })
        .nullish()
        .transform(() => undefined),
    ]),
    repository_selection: optionalText,
    suspended_at: instant,
    updated_at: instant,
  }),
});

/**
 * Reads `installation` and `installation_repositories`. No statement for an enterprise. Throws a
 * ZodError.
 */
export function readInstallation(
  action: string,
  body: unknown,
): { installationId: number; statement: InstallationStatement | undefined } {
  const { installation } = installationPayload.parse(body);
  const { account: owner } = installation;
  if (owner === undefined) return { installationId: installation.id, statement: undefined };
  const statement = {
    entity: owner,
    installationId: installation.id,
    repositorySelection: installation.repository_selection,
    suspendedAt:
      action === 'suspend'
        ? (installation.suspended_at ?? installation.updated_at)
        : installation.suspended_at,
    isDeleted: action === 'deleted',
    statedAt: action === 'unsuspend' ? justAfter(installation.updated_at) : installation.updated_at,
  };
  return { installationId: installation.id, statement };
}

/** The end of a suspension states the suspension's own instant, and must come after it. */
const justAfter = (at: string | null): string | null =>
  at === null ? null : new Date(Date.parse(at) + 1).toISOString();

const targetPayload = z.union([
  z.object({
    account: z.object({ id, login: z.string().min(1), updated_at: instant }),
    target_type: z.enum(['Organization', 'User']),
    installation: z.object({ id }),
  }),
  z.object({ target_type: z.literal('Enterprise') }).transform(() => undefined),
]);

export interface EntityName {
  readonly entity: Entity;
  readonly installationId: number;
  readonly statedAt: string | null;
}

/** Reads `installation_target`. Undefined for an enterprise. Throws a ZodError. */
export function readInstallationTarget(body: unknown): EntityName | undefined {
  const target = targetPayload.parse(body);
  if (target === undefined) return undefined;
  const { account: renamed, target_type: type, installation } = target;
  return {
    entity: { id: renamed.id, login: renamed.login, type },
    installationId: installation.id,
    statedAt: renamed.updated_at,
  };
}
