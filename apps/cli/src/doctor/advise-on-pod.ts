import type { KubeFailure } from '@paddock/kube/errors';

/** What to do about an answer of the API server to a pod. Its words decide nothing but this advice. */
const ADVICE: readonly (readonly [words: RegExp, advice: string])[] = [
  [/namespaces "[^"]*" not found/, 'create the namespace, or correct `namespace` of the pool'],
  [
    /being terminated/,
    'the namespace is being deleted: create it again once it is gone, or name another one',
  ],
  [
    /violates PodSecurity/,
    "give the pool's template the securityContext that this names, or lower the label pod-security.kubernetes.io/enforce of the namespace",
  ],
  [
    /must specify (?:limits|requests)|must specify .* for/,
    "name these in the pool's template, since a quota counts them",
  ],
  [
    /exceeded quota/,
    "raise the ResourceQuota, or lower what the pool's template requests: it leaves no room for one pod",
  ],
  [
    /match these scopes/,
    'add a ResourceQuota that counts the priority class of the pod, or correct priorityClassName of the template',
  ],
  [/PriorityClass/, 'create the PriorityClass, or correct priorityClassName of the template'],
  [/RuntimeClass/, 'create the RuntimeClass, or correct runtimeClassName of the template'],
  [
    /security context constraint/,
    "let the pool's service account use a constraint that takes the pod, or correct the securityContext of the template",
  ],
  [
    /node (?:label )?selector|tolerations .*conflict/,
    'correct nodeSelector or tolerations of the template: the namespace has rules for them',
  ],
  [
    /service ?account/i,
    'create the service account, or correct serviceAccountName of the template',
  ],
  [
    /(?:maximum|minimum|max limit to request ratio) \S+ ?\S* (?:usage )?per/,
    "change requests and limits of the pool's template, or the LimitRange of the namespace",
  ],
  [
    /denied (?:the )?request/,
    "exempt Paddock's namespace from this webhook or policy, or follow what it asks for",
  ],
  [/failed calling webhook/, 'mend or remove this webhook: the cluster takes no pod without it'],
  [/by a webhook or a policy/, "exempt Paddock's pods from that"],
  [/etcdserver/, "mend the cluster's etcd: it stores nothing now"],
];

export const adviseOnPod = ({ kind, message }: KubeFailure): string =>
  ADVICE.find(([words]) => words.test(message))?.[1] ??
  (kind === 'invalid' ? "correct the pool's template" : 'mend what the cluster names');

/** A quota that others use up now is no fault: it has room again when they end. */
export function isFullForNow({ message }: KubeFailure): boolean {
  const used = /exceeded quota: .*used: ([^:]*), limited:/.exec(message)?.[1];
  return used !== undefined && used.split(',').some((one) => !/=0\w*$/.test(one));
}
