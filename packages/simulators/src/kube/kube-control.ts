import type { Fault } from '../faults.ts';
import type { Remote } from '../remote-control.ts';
import type { Verb } from './api-call.ts';
import type { KubeReport } from './kube-report.ts';
import type { End } from './pod-status.ts';
import type { RunnerFaults } from './runner-faults.ts';

/** A fault of the API's answers. */
export interface KubeFault extends Fault {
  readonly verb?: Verb | undefined;
  /** Of the Status object that the answer is. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /**
   * The call succeeds, and its answer has this in a header `Warning`, as when the API server drops
   * fields.
   */
  readonly warning?: string | undefined;
  /** A list succeeds and is empty, like that of a server with an empty cache. */
  readonly empty?: boolean | undefined;
}

/** Controls the simulated cluster, for a test or the demo in the same process. */
export interface KubeControl {
  failNext(fault: KubeFault): void;
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

export type RemoteKubeControl = Remote<KubeControl>;
