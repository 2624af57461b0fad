import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const accepts = new Ajv({ validateFormats: false, allowUnionTypes: true }).compile(
  JSON.parse(read('docs/config.schema.json')) as object,
);
const example = (): { pools: Record<string, unknown>[] } =>
  parse(read('deploy/paddock.example.yaml')) as { pools: Record<string, unknown>[] };

/** The example with something more in its first pool. */
function exampleWith(more: object): object {
  const file = example();
  return { ...file, pools: [{ ...file.pools[0], ...more }, ...file.pools.slice(1)] };
}

describe('docs/config.schema.json, which editors use (H3)', () => {
  test.each([
    {},
    {
      containerMode: 'dind',
      runnerGroup: 'docker',
      entities: ['acme', 'id:7'],
      proxy: { https: 'http://proxy:3128' },
      caBundle: { configMap: 'ca' },
    },
    {
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { anything: 1, containers: [{ name: 'runner', env: null }] },
      },
    },
    {
      resources: { requests: { cpu: 0.5, memory: '16Gi' }, limits: { 'nvidia.com/gpu': 1 } },
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      tolerations: [
        { key: '', operator: 'Exists' },
        { key: 'example.com/spot', value: 'true', effect: 'NoExecute', tolerationSeconds: 60 },
      ],
      priorityClassName: 'high',
      terminationGracePeriodSeconds: 3600,
    },
  ])('takes the example with %j, as the services do', (more) => {
    expect(configFileToLoad.safeParse(exampleWith(more)).success).toBe(true);
    expect(accepts(exampleWith(more))).toBe(true);
  });

  test.each([
    { containerMode: 'kubernetes' },
    { maxWorkers: -1 },
    { maxWorker: 1 },
    { caBundle: { configMap: 'ca', key: 'ca.pem' } },
    { template: { spec: { containers: [{ image: 'x' }] } } },
    { nodeSelector: { gpu: true } },
    { tolerations: [{ key: 'a', operator: 'exists' }] },
    { entities: ['acme/api'] },
    { affinity: {} },
  ])('marks %j as the services would refuse it', (more) => {
    expect(configFileToLoad.safeParse(exampleWith(more)).success).toBe(false);
    expect(accepts(exampleWith(more))).toBe(false);
  });
});

test('samples name public images by digest, so that a moved tag changes nothing', () => {
  const images = [...read('deploy/paddock.example.yaml').matchAll(/image: (?:&\S+ )?([^\s*}]+)/gm)];
  const open = images.flatMap(([, image = '']) =>
    image.startsWith('registry.example.com/') ? [] : [image],
  );
  expect(open.length).toBeGreaterThan(1);
  for (const image of open) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
});
