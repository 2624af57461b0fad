import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { runCommand } from '../run-command.ts';
import { fileWith, wordsOf } from './as-files.scene.ts';
import { ALL_FILES } from './releases.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';

interface Pod {
  readonly metadata: { readonly namespace: string };
}

(assets === '' ? describe.skip : describe)('pods of imported pools at a real API server', () => {
  let real: RealCluster;
  let admin: AdminApi;
  beforeAll(async () => {
    real = await startRealCluster(assets);
    admin = await connectAsAdmin(real.kubeconfigFile);
  });
  afterAll(() => real.stop());

  const namespaces = new Set(['default']);
  async function make(pod: Pod): Promise<void> {
    const { namespace: name } = pod.metadata;
    if (!namespaces.has(name)) await admin('POST', '/api/v1/namespaces', { metadata: { name } });
    namespaces.add(name);
    const how = 'dryRun=All&fieldValidation=Strict';
    await admin('POST', `/api/v1/namespaces/${name}/pods?${how}`, pod);
  }

  test.each(ALL_FILES)('$what', async (file) => {
    const { stdout } = await runCommand(['pools', 'import', ...wordsOf(file)], {});
    const check = ['pools', 'check', fileWith(stdout, 'made.yaml'), '--json'];
    const { pods } = JSON.parse((await runCommand(check, {})).stdout) as { pods: { pod: Pod }[] };
    expect(pods).not.toEqual([]);
    for (const { pod } of pods) await make(pod);
  });
});
