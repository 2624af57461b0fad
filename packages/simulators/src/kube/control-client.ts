import type { KubeControl, RemoteKubeControl } from './kube-control.ts';
import type { KubeReport } from './kube-report.ts';

/** Controls a simulated cluster that runs in another process. */
export function connectKubeControl(url: string): RemoteKubeControl {
  const run = async (name: keyof KubeControl, argument?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/_sim/${name}`, {
      method: 'POST',
      ...(argument === undefined ? {} : { body: JSON.stringify(argument) }),
    });
    if (!response.ok)
      throw new Error(
        `The simulated cluster at ${url} answered ${response.status} to ${name}: ${await response.text()}`,
      );
    const { result } = (await response.json()) as { result: unknown };
    return result;
  };
  const tell = async (name: keyof KubeControl, argument?: unknown): Promise<void> => {
    await run(name, argument);
  };
  return {
    failNext: (fault) => tell('failNext', fault),
    clearFaults: () => tell('clearFaults'),
    cutWatches: () => tell('cutWatches'),
    compact: () => tell('compact'),
    setQuota: (pods) => tell('setQuota', pods),
    endPod: (pod) => tell('endPod', pod),
    setRunnerFaults: (faults) => tell('setRunnerFaults', faults),
    report: async () => (await run('report')) as KubeReport,
  };
}
