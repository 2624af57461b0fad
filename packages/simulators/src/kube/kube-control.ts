import type { Remote } from '../remote-control.ts';
import { asPod } from './api-object.ts';
import type { KubeReport } from './kube-report.ts';
import type { End } from './pod-status.ts';
import type { RunnerFaults } from './runner-faults.ts';
import type { ApiService, KubeFault } from './serve-call.ts';

/** Controls the simulated cluster, for a test or the demo in the same process. */
export type KubeControl = ReturnType<typeof createControl>;
export type RemoteKubeControl = Remote<KubeControl>;

export function createControl(service: ApiService, report: () => KubeReport) {
  const { store, faults, watches, pages } = service;
  return {
    failNext: (fault: KubeFault): void => void faults.push(fault),
    /** What callers are told that they may not do, as `pods/log get`; no call is refused for it. */
    denyRights: (...rights: readonly string[]): void => void (service.denied = rights),
    clearFaults: (): void => void (faults.length = 0),
    /** Breaks all open watches without a message. */
    cutWatches: (): void => watches.forEach((watch) => watch.cut()),
    /** Forgets the history: older versions and open lists answer 410. */
    compact: (): void => {
      store.compact();
      pages.forget();
    },
    /** The most pods of a namespace that have not ended; null lifts the quota. */
    setQuota: (pods: number | null): void => void (service.quota = pods ?? Infinity),
    /**
     * Ends a running pod's process as a kubelet would report it; `message` is the process'
     * termination message.
     */
    endPod: ({
      namespace,
      name,
      end,
      exitCode,
      message,
    }: {
      namespace: string;
      name: string;
      end: End;
      exitCode?: number | undefined;
      message?: string | undefined;
    }): void => {
      const { metadata, ...pod } = asPod(store.get('pods', namespace, name));
      const annotations = {
        ...metadata.annotations,
        'test.paddock/end': end,
        ...(exitCode === undefined ? {} : { 'test.paddock/exit-code': String(exitCode) }),
        ...(message === undefined ? {} : { 'test.paddock/termination-message': message }),
      };
      store.replace('pods', { ...pod, metadata: { ...metadata, annotations } });
    },
    /** Sets the faults of runners whose pods start from now on. */
    setRunnerFaults: (runnerFaults: RunnerFaults): void =>
      void Object.assign(service, { runnerFaults }),
    report,
  };
}
