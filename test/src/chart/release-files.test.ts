import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HELM, podsOf, renderChart, runHelm } from '@paddock/testing/render-chart';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const REGISTRY = 'registry.test/paddock';
const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console', 'migrate'];

const digestOf = (service: string): string =>
  `sha256:${createHash('sha256').update(service).digest('hex')}`;

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

const described = HELM === undefined ? describe.skip : describe;

// It starts the program of each image from the files that it makes.
described('deploy/release makes (needs helm)', () => {
  let folder: string;
  let made: number | string;
  const run = (program: string, ...args: string[]) => {
    const digests = Object.fromEntries(SERVICES.map((service) => [service, digestOf(service)]));
    const env = { ...process.env, DIGESTS: JSON.stringify(digests), PADDOCK_HELM: String(HELM) };
    const { status, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
    return status === 0 ? 0 : stderr;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'paddock-release-'));
    made = run(join(ROOT, 'deploy/release'), '.', REGISTRY);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('checksums of all files', () => {
    expect(made).toBe(0);
    expect(run('sha256sum', '--check', '--quiet', 'SHA256SUMS')).toBe(0);
  });

  test('a chart that names its own place, and its images by digest, with the examples', () => {
    const chart = join(folder, `paddock-${version}.tgz`);
    expect(runHelm(['show', 'readme', chart])).toContain(
      `helm install paddock oci://${REGISTRY}/charts/paddock --version ${version} -n paddock`,
    );
    expect(run('tar', '-xzf', chart)).toBe(0);
    const values = [join(folder, 'paddock/examples/openshift.yaml')];
    const pods = podsOf(renderChart({ chart, release: 'paddock', namespace: 'paddock', values }));
    const images = pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image));
    expect(new Set(images)).toEqual(
      new Set(SERVICES.map((service) => `${REGISTRY}/${service}@${digestOf(service)}`)),
    );
  });

  test('a bill of the packages in the bundles, as CycloneDX', () => {
    const bill = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
      bomFormat: string;
      components: { name: string }[];
    };
    const names = bill.components.map(({ name }) => name);
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(names).toEqual(expect.arrayContaining(['pg', 'kysely', 'express']));
    expect(names).not.toContain('jest');
  });
});
