import type { GoodFile } from './files.scene.ts';

const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by));

const deployment = (spec: string, kind = 'RunnerDeployment'): string =>
  `apiVersion: actions.summerwind.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: old, namespace: runners }\nspec:\n  replicas: 3\n  template:\n    spec:\n${indented(spec, 6)}\n`;

const TIMES = [
  { from: '15:00', to: '15:00', days: ['fri', 'sat'], workers: 0 },
  { from: '15:00', to: '21:30', days: ['sun'], workers: 0 },
  { from: '08:00', to: '18:00', workers: 5 },
  { from: '22:00', to: '22:00', workers: 6 },
].map((time) => Object.assign(time, { timezone: 'UTC' }));

const WORK = { volumeClaimTemplate: { spec: { storageClassName: 'fast' } } };

/** Runners of the controller before scale sets. */
export const DEPLOYED_FILES: readonly GoodFile[] = [
  {
    what: 'a RunnerDeployment with its autoscaler',
    words: ['--allow-untrusted'],
    text: `${deployment('organization: acme\nlabels: [self-hosted, Linux, big]\ngroup: g\nimage: registry.example.com/r:1\nenv: [{ name: A, value: b }]\nvolumeMounts: [{ name: v, mountPath: /v }]\nvolumes: [{ name: v, emptyDir: {} }]\ndockerdContainerResources: { limits: { cpu: 1 } }\nsidecarContainers: [{ name: s, image: s }]')}---
apiVersion: actions.summerwind.dev/v1alpha1
kind: HorizontalRunnerAutoscaler
metadata: { name: h, namespace: runners }
spec: { scaleTargetRef: { name: old }, minReplicas: 1, maxReplicas: 9 }
`,
    config: {
      pools: [
        {
          name: 'old',
          labels: ['self-hosted', 'linux', 'x64', 'big'],
          runnerGroup: 'g',
          maxWorkers: 9,
          warm: [{ scope: 'acme', workers: 1 }],
          containerMode: 'dind',
          template: {
            spec: {
              initContainers: [{ name: 'dind', resources: { limits: { cpu: 1 } } }],
              containers: [
                {
                  name: 'runner',
                  image: 'registry.example.com/r:1',
                  env: [{ name: 'A', value: 'b' }],
                  volumeMounts: [{ name: 'v' }],
                },
                { name: 's' },
              ],
              volumes: [{ name: 'v' }],
            },
          },
        },
      ],
    },
    says: ['image: registry.example.com/r:1 must start a runner by its JIT configuration'],
  },
  {
    what: 'a RunnerDeployment without one, on ARM, of a repository, without Docker',
    text: deployment(
      "repository: acme/shop\ndockerEnabled: false\nnodeSelector: { kubernetes.io/arch: arm64 }\nimage: 'summerwind/actions-runner:latest'\nephemeral: false",
    ),
    config: {
      pools: [
        {
          labels: ['self-hosted', 'linux', 'arm64'],
          registration: 'repository',
          maxWorkers: 3,
          warm: [{ scope: 'acme/shop', workers: 3 }],
        },
      ],
    },
    says: ['image: summerwind/actions-runner:latest registers by a token', 'ephemeral: is false'],
  },
  {
    what: 'numbers by the clock, as far as warm workers can have them',
    text: `${deployment('repository: acme/shop')}---
kind: HorizontalRunnerAutoscaler
metadata: { name: h, namespace: runners }
spec:
  scaleTargetRef: { name: old }
  minReplicas: 2
  maxReplicas: 9
  scheduledOverrides:
    - { startTime: '2021-05-01T00:00:00+09:00', endTime: '2021-05-03T06:30:00+09:00', recurrenceRule: { frequency: Weekly }, minReplicas: 0 }
    - { startTime: '2021-05-03T08:00:00Z', endTime: '2021-05-03T18:00:00Z', recurrenceRule: { frequency: Daily, untilTime: '2999-01-01T00:00:00Z' }, minReplicas: 5 }
    - { startTime: '2021-05-03T22:00:00Z', endTime: '2021-05-04T22:00:00Z', recurrenceRule: { frequency: Daily }, minReplicas: 6 }
    - { startTime: '2021-05-03T08:00:00Z', endTime: '2021-05-03T18:00:00Z', recurrenceRule: { frequency: Weekly, untilTime: '2022-01-01T00:00:00Z' }, minReplicas: 7 }
    - { startTime: '2999-05-03T08:00:00Z', endTime: '2999-05-03T18:00:00Z', minReplicas: 8 }
    - { startTime: '2021-05-03T08:00:00Z', endTime: '2021-05-05T08:00:00Z', recurrenceRule: { frequency: Daily }, minReplicas: 8 }
`,
    config: {
      pools: [
        {
          warm: [{ scope: 'acme/shop', workers: 2, times: TIMES }],
        },
      ],
    },
    says: [
      'scheduledOverrides.0: is in `warm` by the clock of UTC, as there; of several at once',
      'scheduledOverrides.1: is in `warm` by the clock of UTC, as there, and has no end here;',
      'scheduledOverrides.3: is left out: it is over.',
      'scheduledOverrides.4: is left out: warm workers come daily or weekly',
      'scheduledOverrides.5: is left out',
    ],
  },
  {
    what: 'autoscalers without a namespace, and of a deployment that is in no file',
    text: `${deployment('repository: acme/shop')}---
kind: HorizontalRunnerAutoscaler
metadata: { name: h }
spec: { scaleTargetRef: { name: old }, minReplicas: 1, maxReplicas: 7 }
---
kind: HorizontalRunnerAutoscaler
metadata: { name: i }
spec: { scaleTargetRef: { name: other }, maxReplicas: 8 }
---
kind: HorizontalRunnerAutoscaler
metadata: { name: j }
spec: { scaleTargetRef: {} }
`,
    config: { pools: [{ maxWorkers: 7, warm: [{ workers: 1 }] }] },
    says: [
      'h: gives its numbers to old.',
      'i: scaleTargetRef: its numbers are left out, since no FILE has other: import it as well.',
      'j: scaleTargetRef: its numbers are left out, since no FILE has the set without a name: import it as well.',
    ],
  },
  {
    what: 'a RunnerDeployment in kubernetes mode, with its volume and account',
    text: deployment(
      'repository: acme/shop\ncontainerMode: kubernetes\nserviceAccountName: s\nworkVolumeClaimTemplate: { storageClassName: fast, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }',
    ),
    config: {
      pools: [
        {
          template: {
            spec: { serviceAccountName: 's', volumes: [{ name: 'work', ephemeral: WORK }] },
          },
        },
      ],
    },
  },
  {
    what: 'a RunnerSet on Windows, whose nodes have no daemon for Linux',
    text: `apiVersion: v1\nkind: List\nitems:\n  - kind: RunnerSet\n    metadata: { name: old, namespace: runners }\n    spec:\n      organization: acme\n      replicas: 2\n      template: { spec: { nodeSelector: { kubernetes.io/os: windows }, containers: [{ name: runner, image: 'w:1' }] } }\n      volumeClaimTemplates: [{}]\n`,
    config: {
      pools: [
        {
          labels: ['self-hosted', 'windows', 'x64'],
          maxWorkers: 2,
          template: { spec: { containers: [{ image: 'w:1' }] } },
        },
      ],
    },
    says: ['volumeClaimTemplates: is left out'],
  },
];
