import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { runCommand } from '../run-command.ts';
import { GOOD_FILES } from './files.scene.ts';
import { RELEASE_FILES } from './releases.scene.ts';
import { DEPLOYED_FILES } from './runner-deployments.scene.ts';
import { WRAPPED_FILES } from './wrappings.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';

const described = assets === '' ? describe.skip : describe;

described('the pods of imported pools at a real API server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-import-'));
  let real: RealCluster;
  let admin: AdminApi;
  const namespaces = new Set(['default']);

  beforeAll(async () => {
    real = await startRealCluster(assets);
    admin = await connectAsAdmin(real.kubeconfigFile);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await real.stop();
  });

  function fileWith(text: string, name: string): string {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  async function make(pod: Pod): Promise<void> {
    const { namespace } = pod.metadata;
    if (!namespaces.has(namespace))
      await admin('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    namespaces.add(namespace);
    const how = 'dryRun=All&fieldValidation=Strict';
    await admin('POST', `/api/v1/namespaces/${namespace}/pods?${how}`, pod);
  }

  test.each([...GOOD_FILES, ...WRAPPED_FILES, ...DEPLOYED_FILES, ...RELEASE_FILES])(
    '$what',
    async ({ text, words = [], name = 'arc.yaml', beside = {} }) => {
      const others = Object.entries(beside).map(([path, content]) => fileWith(content, path));
      const files = [fileWith(text, name), ...others];
      const { stdout } = await runCommand(['pools', 'import', ...files, ...words], {});
      const check = ['pools', 'check', fileWith(stdout, 'made.yaml'), '--json'];
      const { pods } = JSON.parse((await runCommand(check, {})).stdout) as {
        readonly pods: readonly { readonly pod: Pod }[];
      };
      expect(pods).not.toEqual([]);
      for (const { pod } of pods) await make(pod);
    },
  );
});

interface Pod {
  readonly metadata: { readonly namespace: string };
}
