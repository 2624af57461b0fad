import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Program, startProgram } from '@paddock/processes/start-program';
import { HELM } from '@paddock/testing/render-chart';
import type { ChartCluster } from './chart-cluster.scene.ts';
import { createKubelet, markReady } from './kubelet.scene.ts';
import { furnish, type Place, runContainer } from './play-container.scene.ts';
import { playService } from './play-service.scene.ts';
import type { PlayedPod } from './played-pod.scene.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NODE = dirname(process.execPath);
const DOCKERFILE = join(ROOT, 'test/kind/Dockerfile');

/** What played nodes need of the chart: they bind no volume, and leave the services to the test. */
const service = { podAnnotations: { 'test.paddock/start': 'never' } };
const VALUES = {
  evaluation: { enabled: false },
  database: { existingSecret: { name: 'played-database' } },
  ingress: service,
  scheduler: service,
  reconciler: service,
  console: service,
};

/** A machine with a cluster as kind makes it, whose pods run as processes. */
export interface PlayedKind {
  /** Starts what is new and ends what is gone; rejects if something could not start. */
  look(): Promise<void>;
  /** Runs a script as a step of a workflow, and resolves with its end. */
  runStep(script: string): Promise<StepEnd>;
  /** The runners' pods that have ended, with their exit codes. */
  readonly runners: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface StepEnd {
  readonly code: number | null;
  readonly output: string;
}

interface KindOptions {
  readonly cluster: ChartCluster;
  /** The folder of kubectl. */
  readonly assets: string;
  /** An empty folder. */
  readonly folder: string;
  /** A loopback address that no other test uses. */
  addressOf(number: number): string;
}

export function playKind({ cluster, assets, folder, addressOf }: KindOptions): PlayedKind {
  const hosts = {
    'github.github.svc': addressOf(1),
    'paddock-webhook': addressOf(2),
    'paddock-console': addressOf(6),
    'paddock-webhook.paddock.svc': addressOf(2),
  };
  const place = (number: number): Place => ({ cluster, address: addressOf(number), hosts });
  const undo: (() => Promise<unknown>)[] = [];
  const seen = new Set<string>();
  const failures: unknown[] = [];
  const once = (key: string, start: () => Promise<void>): void => {
    if (seen.has(key)) return;
    seen.add(key);
    start().catch((error: unknown) => failures.push(error));
  };
  const services = createKubelet({
    cluster,
    namespace: 'paddock',
    addressOf: (number) => addressOf(10 + number),
    hosts,
  });
  const runners = new Map<string, number>();
  const runScript = join(folder, 'run.sh');
  symlinkSync(linkedProgram('/home/runner/run.sh'), runScript);
  const shims = writeShims(folder, assets);

  const pods = async (namespace: string, labels: string): Promise<readonly PlayedPod[]> =>
    (await cluster.list('Pod', namespace, labels)) as unknown as PlayedPod[];
  const end = (pod: PlayedPod, code: number): Promise<void> =>
    cluster.patch(pod, {
      metadata: {
        annotations: {
          'test.paddock/end': code === 0 ? 'succeeded' : 'failed',
          'test.paddock/exit-code': String(code),
        },
      },
    });
  const startGitHub = async (pod: PlayedPod): Promise<void> => {
    const { env, remove } = await furnish(place(3), pod);
    const [container] = pod.spec.containers;
    writeFileSync(shims.environmentOf('github'), exported(env));
    const [node, program = ''] = container.command ?? [];
    if (node !== 'node') throw new Error(`The image of GitHub has no ${node}`);
    const github: Program = await startProgram({ program: join(ROOT, program), env });
    undo.push(async () => {
      github.kill('SIGTERM');
      await github.exited;
      await remove();
    });
    await markReady(cluster, pod, addressOf(3));
  };
  const run = async (pod: PlayedPod): Promise<void> => {
    const { code, output } = await runContainer(place(4), pod);
    if (code !== 0) throw new Error(`${pod.metadata.name} ended with ${code}: ${output}`);
    await end(pod, code);
  };
  const runRunner = async (pod: PlayedPod): Promise<void> => {
    const { env, remove } = await furnish(place(5), pod);
    if (pod.spec.containers[0].command?.join(' ') !== '/home/runner/run.sh')
      throw new Error(`The runner's image has no ${pod.spec.containers[0].command?.join(' ')}`);
    const code = await new Promise<number>((ended) => {
      execFile(runScript, { env: { ...env, PATH: NODE } }, (error) =>
        ended(error === null ? 0 : Number(error.code ?? -1)),
      );
    });
    await remove();
    runners.set(pod.metadata.name, code);
    await end(pod, code);
  };
  const serve = async (namespace: string, name: string, host: string): Promise<void> => {
    const found = (await cluster.list('Service', namespace, '')).find(
      ({ metadata }) => metadata.name === name,
    );
    if (found === undefined) return;
    once(`Service ${name}`, async () => {
      const served = await playService(cluster, found, host);
      undo.push(served.stop);
    });
  };
  return {
    runners,
    async look() {
      await serve('github', 'github', hosts['github.github.svc']);
      await serve('paddock', 'paddock-webhook', hosts['paddock-webhook']);
      await serve('paddock', 'paddock-console', hosts['paddock-console']);
      for (const pod of await pods('github', 'app.kubernetes.io/component=github'))
        once(pod.metadata.uid, () => startGitHub(pod));
      await services.look();
      for (const { pod, env } of services.running())
        writeFileSync(shims.environmentOf(deploymentOf(pod)), exported(env));
      const tasks = await pods('paddock', 'app.kubernetes.io/component in (migrate,test)');
      for (const pod of tasks.filter(isRunning)) once(pod.metadata.uid, () => run(pod));
      for (const pod of (await pods('runners', '')).filter(isRunning))
        once(pod.metadata.uid, () => runRunner(pod));
      if (failures.length > 0) throw new AggregateError(failures, failures.join('\n'));
    },
    runStep: (script) => runStep(script, { folder, cluster, bin: shims.bin }),
    async stop() {
      await services.endAll();
      for (const step of undo.toReversed()) await step();
    },
  };
}

const isRunning = ({ status }: PlayedPod): boolean =>
  (status as { phase?: string } | undefined)?.phase === 'Running';

/** What a path of the test's image leads to, in the folder of the sources. */
function linkedProgram(path: string): string {
  const link = new RegExp(`ln -s /src/(\\S+) ${path}$`, 'm').exec(readFileSync(DOCKERFILE, 'utf8'));
  if (link === null) throw new Error(`${DOCKERFILE} makes no ${path}`);
  return join(ROOT, link[1] ?? '');
}

/** The name of a pod's Deployment, without what its controllers add. */
const deploymentOf = ({ metadata }: PlayedPod): string =>
  metadata.name.replace(/-[a-z0-9]+-[a-z0-9]+$/, '');

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const exported = (env: NodeJS.ProcessEnv): string =>
  Object.entries(env)
    .map(([name, value = '']) => `export ${name}=${quoted(value)}\n`)
    .join('');

/** Programs in front of kubectl and helm, for what played nodes cannot do. */
function writeShims(
  folder: string,
  assets: string,
): { readonly bin: string; environmentOf(deployment: string): string } {
  const bin = join(folder, 'bin');
  const values = join(folder, 'played.yaml');
  mkdirSync(bin);
  writeFileSync(values, JSON.stringify(VALUES));
  const scripts = {
    // Commands run in the checkout, in the environment of a pod of their Deployment.
    kubectl: `[ "$1" = exec ] || exec ${quoted(join(assets, 'kubectl'))} "$@"
while [ "$1" != -- ]; do deployment=$1; shift; done
shift
. ${quoted(folder)}/"\${deployment#deployment/}.env"
if [ "$2" = apps/cli/dist/main.mjs ]; then shift 2; set -- node apps/cli/src/main.ts "$@"; fi
exec "$@"`,
    helm: `case $1 in install|upgrade) set -- "$@" --values ${quoted(values)};; esac
exec ${quoted(HELM ?? 'helm')} "$@"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { bin, environmentOf: (deployment) => join(folder, `${deployment}.env`) };
}

/** As GitHub runs a step: in the checkout, until the first command that fails. */
function runStep(
  script: string,
  { folder, cluster, bin }: Pick<KindOptions, 'folder' | 'cluster'> & { readonly bin: string },
): Promise<StepEnd> {
  const variables = [
    `HOME=${folder}`,
    `RUNNER_TEMP=${folder}`,
    `KUBECONFIG=${cluster.real.kubeconfigFile}`,
    'HELM_NAMESPACE=paddock',
  ];
  const text = `PATH=${quoted([bin, NODE].join(delimiter))}:$PATH\n${script}`;
  const step = spawn('env', [...variables, 'bash', '-e', '-c', text], { cwd: ROOT });
  const output: string[] = [];
  for (const stream of [step.stdout, step.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => output.push(part));
  return new Promise((resolve, reject) => {
    step.on('error', reject);
    step.on('close', (code) => resolve({ code, output: output.join('') }));
  });
}
