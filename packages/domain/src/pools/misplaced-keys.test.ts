import { expect, test } from '@jest/globals';
import { poolsDocument } from './pools-document.ts';

const POOL = { name: 'linux', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const problemsOf = (pool: object): string[] =>
  (
    poolsDocument.safeParse({ pools: [{ ...POOL, ...pool }], entities: {} }).error?.issues ?? []
  ).map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`);

test.each([
  ...['cpu', 'memory', 'requests', 'limits'].map(
    (key) => [{ [key]: 1 }, `${key}: must stand in resources`] as const,
  ),
  ...['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'].map(
    (key) =>
      [
        { resources: { [key]: 1 } },
        `resources.${key}: must stand in requests, limits or both`,
      ] as const,
  ),
  ...['imagePullSecrets', 'serviceAccountName', 'topologySpreadConstraints', 'volumes'].map(
    (key) => [{ [key]: 1 }, `${key}: is the template's: write it as template.spec.${key}`] as const,
  ),
  ...['nodeSelector', 'tolerations', 'volumes'].map(
    (key) =>
      [
        { template: { [key]: 1 } },
        `template.${key}: must stand in spec: write it as template.spec.${key}`,
      ] as const,
  ),
])('names the right place for a misplaced key: %j', (pool, problem) => {
  expect(problemsOf(pool)).toEqual([problem]);
});
