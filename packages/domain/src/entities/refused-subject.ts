/** What a refusal of GitHub's speaks of: the App itself, its installation on an entity, or one repository. */
export type RefusedSubject = 'app' | 'entity' | 'repository';

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'not_found']);
/** Whether GitHub refused the call, by the kind of its failure. */
export const isRefusal = ({ kind }: { readonly kind: string }): boolean => REFUSALS.has(kind);
const TOKEN_CALL = /\/access_tokens$/;
const APP_CALL = /^[A-Z]+ (?:\/api\/v3)?\/app(?:\/|$)/;
/** An App's call in its own name, by method and path: of its installations, their tokens, its deliveries. */
export const isAppCall = (operation: string): boolean => APP_CALL.test(operation);
const REPOSITORY_CALL = /^[A-Z]+ (?:\/api\/v3)?\/(?:repos|repositories)\//;

/**
 * What a failed call speaks against, by the kind of its failure and its method and path. A token that is not given, or not taken, concerns
 * the whole installation; an App's key that is refused concerns the App. Undefined: it is no refusal, or speaks of this call only.
 */
export function refusedSubject({ kind, operation }: { readonly kind: string; readonly operation: string }): RefusedSubject | undefined {
  if (!isRefusal({ kind })) return undefined;
  if (isAppCall(operation)) {
    if (kind === 'unauthorized') return 'app';
    return TOKEN_CALL.test(operation) ? 'entity' : undefined;
  }
  return kind !== 'unauthorized' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';
}
