import { asList, asRecord } from './as-record.ts';
import { templateWithKeys } from './pod-keys.ts';

/** The label of a node's system; a kubelet still writes the old one beside it. */
const SYSTEM = /^(beta\.)?kubernetes\.io\/os$/;
/** Every node with Windows has it, and no other node. */
const BUILD = 'node.kubernetes.io/windows-build';

/**
 * Whether all nodes that its pods fit have Windows, by `os`, the node selector or the required node
 * affinity. Capital letters count as small ones: no system but Windows can be meant. Pure.
 */
export function isForWindows(pool: Parameters<typeof templateWithKeys>[0]): boolean {
  const { os, nodeSelector, affinity } = asRecord(templateWithKeys(pool).spec);
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = asRecord(
    asRecord(affinity)['nodeAffinity'],
  );
  const terms = asList(asRecord(required)['nodeSelectorTerms']);
  const selected = Object.entries(asRecord(nodeSelector)).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  return (
    isWindows(asRecord(os)['name']) ||
    selected.some(wantsWindows) ||
    // One term is enough for a node.
    (terms.length > 0 &&
      terms.every((term) => asList(asRecord(term)['matchExpressions']).some(wantsWindows)))
  );
}

/** Whether a requirement of labels leaves nodes with Windows alone. */
function wantsWindows(requirement: unknown): boolean {
  const { key, operator, values: given } = asRecord(requirement);
  const values = asList(given);
  if (key === BUILD) return operator !== 'NotIn' && operator !== 'DoesNotExist';
  if (typeof key !== 'string' || !SYSTEM.test(key)) return false;
  if (operator === 'NotIn') return values.includes('linux');
  return operator === 'In' && values.length > 0 && values.every(isWindows);
}

const isWindows = (system: unknown): boolean =>
  typeof system === 'string' && system.toLowerCase() === 'windows';
