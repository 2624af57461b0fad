import type { WaitAnswer } from './explain-wait.ts';
import { type Actor, actorOn, withoutStop } from './reason-explanations.ts';

/** What holds up work, as the rows have it: waiting jobs of one reason, or a cause without any. */
export interface Hindrance {
  /** The reason to wait, `service_silent`, `stops_held` or `tasks_asleep`. */
  readonly name: string;
  /** Of a cause without jobs: the service, the login, the worker or the kind of task. */
  readonly subject: string | null;
  readonly jobs: number;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly message: string | null;
  readonly pools: readonly string[];
  /** The oldest of the jobs. */
  readonly job: number | null;
}

/** One cause, for people. */
export interface FleetDiagnosis {
  readonly name: string;
  readonly sentence: string;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly actor: Actor;
  readonly advice: string;
  readonly jobs: number;
  readonly job: number | null;
  readonly pools: readonly string[];
}

const RANKS: readonly string[] = [
  'service_silent',
  'github_unavailable',
  'cluster_unavailable',
  'making_stopped',
];

/** Lower is worse: what is away, what people hold back, what somebody must mend, what time mends. */
function rankOf({ name, actor, jobs }: FleetDiagnosis): number {
  if (RANKS.includes(name)) return RANKS.indexOf(name);
  return RANKS.length + (actor === 'wait' ? 2 : 0) + (jobs > 0 ? 0 : 1);
}

/** Causes, the worst first. One that holds back jobs has the words of the oldest of them. */
export function diagnoseFleet(
  found: readonly Hindrance[],
  explained: ReadonlyMap<string, Pick<WaitAnswer, 'sentence' | 'actor' | 'advice'>>,
): FleetDiagnosis[] {
  const withJobs = new Set(found.filter(({ jobs }) => jobs > 0).map(({ name }) => name));
  return found
    .filter(({ name, jobs }) => jobs > 0 || !withJobs.has(name))
    .map(({ subject, message, ...one }) => {
      const words = one.jobs > 0 ? explained.get(one.name) : undefined;
      return Object.assign(one, {
        sentence: words?.sentence ?? quietSentence(one.name, subject ?? '', message ?? ''),
        actor: words?.actor ?? actorOn(one.name),
        advice: words?.advice ?? adviceOn(one.name),
      });
    })
    .toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) || b.jobs - a.jobs || Number(a.since ?? 0) - Number(b.since ?? 0),
    );
}

const adviceOn = (name: string): string =>
  name === 'service_silent'
    ? 'Look at its pods, their restarts and their log.'
    : 'Nothing waits for it now; it will hold back the next job.';

/** What does not happen while no process of a service lives. */
const WITHOUT: Readonly<Record<string, string>> = {
  ingress: 'no delivery of GitHub is stored',
  scheduler: 'no worker is made, followed or stopped',
  reconciler: 'nothing that was missed is found',
};

function quietSentence(name: string, subject: string, message: string): string {
  const because = message === '' ? '' : `: ${withoutStop(message)}`;
  switch (name) {
    case 'service_silent':
      return `No process of the service ${subject} gives a sign of life: ${WITHOUT[subject]}.`;
    case 'making_stopped':
      return `A person holds back ${subject}${because}.`;
    case 'stops_held':
      return `Workers that should go do not, ${subject} for the longest${because}.`;
    case 'tasks_asleep':
      return `Tasks that failed wait for their next try, ${subject}${because}.`;
    case 'workers_failing':
      return `Workers for ${subject} fail before they have a job${because}.`;
    default:
      return `${subject} (${name.replaceAll('_', ' ')})${because}.`;
  }
}
