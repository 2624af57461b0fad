import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { HELM } from '@paddock/testing/render-chart';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = HELM === undefined || assets === '' ? describe.skip : describe;

const pageOf = (name: string): string => readFileSync(join(ROOT, 'docs', `${name}.md`), 'utf8');

const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\``, 'gms'))].map(
    ([, , block = '']) => block,
  );

/** Nothing runs pods here, and the terminal's commands have a test of their own (apps/cli). */
const NEEDS_PODS =
  /kubectl (?:exec|logs|port-forward|rollout)|--watch|helm test|psql |pnpm@12|^pg_|oci:\/\/|deploy\/images|^\s*paddock /;

/** The commands of a page that an API server is enough for, as one script. */
const commandsOf = (page: string): string =>
  blocksOf(page, 'sh')
    // The chart of this clone stands for that of a release.
    .map((block) =>
      block.replace('oci://REGISTRY/charts/paddock --version VERSION', 'deploy/helm/paddock'),
    )
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .filter((line) => line.trim() !== '' && !NEEDS_PODS.test(line))
    .map((line) => line.replace(/ --wait\b/, '').replace('deploy/helm', join(ROOT, 'deploy/helm')))
    .join('\n');

described(
  'the commands of the pages, on a real API server (H6; needs helm and KUBEBUILDER_ASSETS)',
  () => {
    let cluster: RealCluster;
    let folder: string;
    beforeAll(async () => {
      cluster = await startRealCluster(assets);
      folder = mkdtempSync(join(tmpdir(), 'paddock-pages-'));
      const shim = `helm() { '${HELM}' "$@"; }\nkubectl() { '${join(assets, 'kubectl')}' "$@"; }\n`;
      writeFileSync(join(folder, 'shims.sh'), shim);
      writeFileSync(join(folder, 'private-key.pem'), 'a key');
      writeFileSync(join(folder, 'new.private-key.pem'), 'a new key');
      const values = blocksOf(pageOf('install'), 'yaml').find((block) =>
        block.startsWith('# values.yaml'),
      );
      writeFileSync(join(folder, 'values.yaml'), values ?? '');
    });
    afterAll(async () => {
      rmSync(folder, { recursive: true });
      await cluster.stop();
    });

    const run = (script: string) => {
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['-euo', 'pipefail', '-c', `source ./shims.sh\n${script}`],
        {
          cwd: folder,
          encoding: 'utf8',
          env: {
            PATH: process.env['PATH'],
            HOME: folder,
            KUBECONFIG: cluster.kubeconfigFile,
            WEBHOOK_SECRET: 'one',
          },
        },
      );
      expect([status, stderr]).toEqual([0, expect.not.stringMatching(/^Error/m)]);
      return stdout;
    };
    const all = (kinds: string) =>
      run(`kubectl get ${kinds} -A -o name -l app.kubernetes.io/part-of=paddock.paddock`);

    test('install makes a release, rotate changes its Secret, change-pools clears a namespace that is left, upgrading makes its objects again and goes back, and uninstall leaves nothing', () => {
      run(commandsOf(pageOf('install')));
      expect(run('helm list -n paddock -q')).toBe('paddock\n');
      const mounted = run(
        `kubectl get deployment,job -n paddock -o jsonpath='{..secretName} {..secretKeyRef.name}'`,
      );
      for (const secret of new Set(mounted.trim().split(/\s+/)))
        run(`kubectl get secret -n paddock ${secret}`);
      run(commandsOf(pageOf('rotate')));
      const { data } = JSON.parse(
        run(`kubectl get secret paddock-github -n paddock -o json`),
      ) as Record<'data', Record<string, string>>;
      expect(data).toEqual({
        'webhook-secret': expect.not.stringMatching(`^(${btoa('one')})?$`),
        'previous-webhook-secret': data['webhook-secret'],
        'private-key.pem': btoa('a new key'),
      });

      const kinds = 'role,rolebinding,networkpolicy,poddisruptionbudget';
      const made = all(kinds);
      expect(made).not.toBe('');
      run(commandsOf(pageOf('change-pools')).replaceAll('OLD', 'runners'));
      expect(all(kinds)).toBe('');
      run(commandsOf(pageOf('upgrading')));
      expect(all(kinds)).toBe(made);
      expect(run('helm history paddock -n paddock')).toMatch(/Upgrade complete.*Rollback to 1/s);
      const counted =
        "kubectl get deployment,job -n paddock -o jsonpath='{..spec.replicas} {..kind}'";
      const before = run(counted);
      run(commandsOf(pageOf('back-up')));
      expect(run(counted)).toBe(before);
      run(commandsOf(pageOf('uninstall')));
      expect(all(kinds)).toBe(made);
      const [commands = ''] = [...pageOf('uninstall').matchAll(/`(kubectl delete [^`]*)`/g)].map(
        ([, found]) => found,
      );
      run(commands);
      expect(all(kinds)).toBe('');
    });
  },
);
