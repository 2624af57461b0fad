import { expect, test } from '@jest/globals';
import { isForWindows } from './is-for-windows.ts';
import type { PodTemplate } from './pod-template.ts';

const OS = 'kubernetes.io/os';
const BUILD = 'node.kubernetes.io/windows-build';

/** The required node affinity of these terms, of one requirement each. */
const affinity = (...terms: (readonly [key: string, operator: string, ...values: string[]])[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map(([key, operator, ...values]) => ({
          matchExpressions: [
            { key: 'disk', operator: 'Exists' },
            { key, operator, values },
          ],
        })),
      },
    },
  },
});

test.each<[isIt: boolean, spec: PodTemplate['spec']]>([
  [true, { os: { name: 'windows' } }],
  [true, { nodeSelector: { [OS]: 'windows' } }],
  [true, { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } }],
  [true, { nodeSelector: { [OS]: 'Windows' } }],
  [true, { nodeSelector: { [BUILD]: '10.0.20348' } }],
  [true, affinity([OS, 'In', 'windows'])],
  [true, affinity(['beta.kubernetes.io/os', 'In', 'Windows'])],
  [true, affinity([OS, 'NotIn', 'linux'])],
  [true, affinity([BUILD, 'Exists'])],
  [true, affinity([OS, 'In', 'windows'], [BUILD, 'In', '10.0.20348'])],
  [false, {}],
  [false, { os: { name: 'linux' }, nodeSelector: { [OS]: 'linux', image: 'windows' } }],
  [false, affinity()],
  [false, affinity([OS, 'In'])],
  [false, affinity([OS, 'In', 'windows', 'linux'])],
  [false, affinity([OS, 'In', 'windows'], [OS, 'In', 'linux'])],
  [false, affinity([OS, 'NotIn', 'windows'])],
  [false, affinity([OS, 'Exists'])],
  [false, affinity(['kubernetes.io/arch', 'In', 'windows'])],
  [false, affinity([BUILD, 'NotIn', '10.0.17763'])],
  [false, affinity([BUILD, 'DoesNotExist'])],
  [
    false,
    {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: BUILD, operator: 'Exists' }] } },
          ],
        },
      },
    },
  ],
])('%s: its pods run on Windows with %j (H3)', (isIt, spec) => {
  expect(isForWindows({ template: { spec } })).toBe(isIt);
});

test('its own node selector counts beside the template’s (H3)', () => {
  expect(isForWindows({ nodeSelector: { [OS]: 'windows' } })).toBe(true);
});
