import type { End } from './pod-status.ts';
import type { Fault } from './faults.ts';
import type { KubeReport } from './kube-report.ts';
import type { RunnerFaults } from './runner-faults.ts';

/** Controls the simulated cluster, for a test or the demo in the same process. */
export interface KubeControl {
  failNext(fault: Fault): void;
  clearFaults(): void;
  /** Breaks all open watches without a message. */
  cutWatches(): void;
  /** Forgets the history: older versions and open lists answer 410. */
  compact(): void;
  /** The most pods of a namespace that have not ended; null lifts the quota. */
  setQuota(pods: number | null): void;
  /**
   * Ends a running pod's process as a kubelet would report it; `message` is the process'
   * termination message.
   */
  endPod(pod: {
    namespace: string;
    name: string;
    end: End;
    exitCode?: number | undefined;
    message?: string | undefined;
  }): void;
  /** Sets the faults of runners whose pods start from now on. */
  setRunnerFaults(faults: RunnerFaults): void;
  report(): KubeReport;
}

/** The same from another process. */
export type RemoteKubeControl = {
  [K in keyof KubeControl]: (
    ...args: Parameters<KubeControl[K]>
  ) => Promise<ReturnType<KubeControl[K]>>;
};
