import { expect, test } from '@jest/globals';
import { unknownPodFields } from './unknown-fields.ts';

test.each<[unknown, ReturnType<typeof unknownPodFields>]>([
  [{ nodeSelctor: {} }, [{ path: 'nodeSelctor', meant: 'nodeSelector' }]],
  [
    { dockerdWithinRunnerContainer: true, env: [], image: 'i' },
    [
      { path: 'dockerdWithinRunnerContainer', meant: undefined },
      { path: 'env', meant: undefined },
      { path: 'image', meant: undefined },
    ],
  ],
  [
    {
      containers: [
        { name: 'a' },
        { name: 'b', imagePulPolicy: 'Always', securityContext: { capabilities: { dropp: [] } } },
      ],
    },
    [
      { path: 'containers[1].imagePulPolicy', meant: 'imagePullPolicy' },
      { path: 'containers[1].securityContext.capabilities.dropp', meant: 'drop' },
    ],
  ],
  [
    {
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerm: [] } },
      },
    },
    [
      {
        path: 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerm',
        meant: 'nodeSelectorTerms',
      },
    ],
  ],
  [
    { volumes: [{ name: 'a', emptyDir: { size: '1Gi' } }] },
    [{ path: 'volumes[0].emptyDir.size', meant: undefined }],
  ],
  [
    {
      nodeSelctor: null,
      nodeSelector: { anything: 'a' },
      overhead: { cpu: 1 },
      containers: [{ resources: { limits: { 'a.b/c': 1 } } }],
    },
    [],
  ],
  [
    {
      volumes: [
        {
          name: 'w',
          ephemeral: { volumeClaimTemplate: { metadata: { creationTimestamp: null }, spec: {} } },
        },
      ],
    },
    [],
  ],
  [undefined, []],
  ['text', []],
])('%j has the unknown fields %j (H1)', (spec, unknown) => {
  expect(unknownPodFields(spec)).toEqual(unknown);
});
