import type { WaitReason } from '../matching/wait-reasons.ts';

/** What GitHub refuses: the App, its installation on an entity, or one repository. */
export type RefusedSubject = 'app' | 'entity' | 'repository';

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'not_found']);
/** Whether GitHub refused the call, by the kind of its failure. */
export const isRefusal = ({ kind }: { readonly kind: string }): boolean => REFUSALS.has(kind);
const TOKEN_CALL = /\/access_tokens$/;
const APP_CALL = /^[A-Z]+ (?:\/api\/v3)?\/app(?:\/|$)/;
/** Whether the App itself calls: for installations, their tokens, deliveries. */
const isAppCall = (operation: string): boolean => APP_CALL.test(operation);
const REPOSITORY_CALL = /^[A-Z]+ (?:\/api\/v3)?\/(?:repos|repositories)\//;

/**
 * The subject of a failed call, by the failure's kind and the call's method and path. If GitHub
 * gives no token or refuses it, the installation is refused; if it refuses the App's key, the App.
 * Undefined: no refusal, or a refusal of this call only.
 */
export function refusedSubject({
  kind,
  operation,
}: {
  readonly kind: string;
  readonly operation: string;
}): RefusedSubject | undefined {
  if (!isRefusal({ kind })) return undefined;
  if (isAppCall(operation)) {
    if (kind === 'unauthorized') return 'app';
    return TOKEN_CALL.test(operation) ? 'entity' : undefined;
  }
  return kind !== 'unauthorized' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';
}

/**
 * Why no workers are made for a refused subject. Only without a token the installation is gone: what
 * else GitHub does not know at an entity may be a runner group.
 */
export function refusalReason(
  subject: RefusedSubject,
  { kind, operation }: { readonly kind: string; readonly operation: string },
): WaitReason {
  const isGone = kind === 'not_found';
  if (subject === 'repository') return isGone ? 'repository_gone' : 'repository_refused';
  return isGone && TOKEN_CALL.test(operation) ? 'installation_gone' : 'installation_refused';
}
