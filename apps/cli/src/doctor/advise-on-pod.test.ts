import { expect, test } from '@jest/globals';
import { adviseOnPod } from './advise-on-pod.ts';

/** In the words of API servers and of what stands before them. */
test.each([
  ['create the namespace', 'namespaces "gone" not found'],
  ['the namespace is being deleted', 'namespace runners because it is being terminated'],
  ['give the pool’s template the securityContext', 'violates PodSecurity "restricted:latest": …'],
  ['name these in the pool’s template', 'failed quota: strict: must specify limits.cpu'],
  ['raise the ResourceQuota', 'exceeded quota: none, requested: pods=1, used: pods=0'],
  [
    'add a ResourceQuota that counts',
    'insufficient quota to match these scopes: [{PriorityClass}]',
  ],
  ['create the PriorityClass', 'no PriorityClass with name gpu was found'],
  ['create the RuntimeClass', 'pod rejected: RuntimeClass "kata" not found'],
  ['use a constraint', 'unable to validate against any security context constraint: []'],
  ['correct nodeSelector', 'pod node label selector conflicts with its namespace'],
  ['create the service account', 'error looking up service account runners/ci'],
  ['the LimitRange', 'maximum cpu usage per Container is 1, but limit is 2'],
  ['exempt Paddock’s namespace', 'admission webhook "a" denied the request: no latest'],
  ['exempt Paddock’s namespace', 'ValidatingAdmissionPolicy "a" with binding "b" denied request'],
  ['mend or remove this webhook', 'failed calling webhook "policy.example.com": refused'],
  ['mend the cluster’s etcd', 'etcdserver: mvcc: database space exceeded'],
  ['mend what the cluster names', 'of tomorrow'],
])('says to %s (H1): %s', (advice, message) => {
  expect(adviseOnPod({ kind: 'forbidden', message }).replaceAll("'", '’')).toContain(advice);
});

test('says to correct a template that the cluster does not take (H1)', () => {
  const message = 'spec.tolerations[0]: Invalid value';
  expect(adviseOnPod({ kind: 'invalid', message })).toBe("correct the pool's template");
});
