import {
  nextStopStep,
  type StopEvidence,
  type StoppingWorker,
  type StopStep,
} from '../workers/stop-steps.ts';

const RULES = {
  idleApartMs: 60_000,
  unreadMs: 600_000,
  lastLookMs: 30_000,
  offlineMs: 600_000,
  retryMs: 45_000,
};

/** A registered worker that was idle and is to be stopped; GitHub has called it idle for long. */
export const WORKER: StoppingWorker = {
  hasEnded: false,
  isStopping: true,
  reason: 'idle',
  isAssigned: false,
  hadJob: false,
  hadPod: true,
  hadStarted: true,
  podlessForMs: null,
  registrationBegun: true,
  deregistration: 'none',
  deregisteredForMs: null,
  wasOnline: true,
  idleForMs: 60_000,
  offlineForMs: null,
  stoppingForMs: 0,
  heldBy: null,
};
export const DEREGISTERED = { deregistration: 'done', deregisteredForMs: 30_000 } as const;

export type Given = Omit<StopEvidence, 'worker'> & { readonly worker?: Partial<StoppingWorker> };
export const decide = ({ worker, ...seen }: Given): StopStep =>
  nextStopStep({ ...seen, worker: { ...WORKER, ...worker } }, RULES);

/** What the step is, without its sentence. */
export const brief = (step: StopStep) => {
  if ('look' in step) return `look at the ${step.look}`;
  if (step.act === 'wait') return `wait ${step.forMs}${step.heldUp ? ', held up' : ''}`;
  return step.act === 'keep' ? `keep, ${step.assigned ? 'assigned' : 'unassigned'}` : step.act;
};

export const IDLE = { pod: 'working', runner: 'online' } as const;
