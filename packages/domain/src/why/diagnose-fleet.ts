import { WAIT_REASONS } from '../matching/wait-reasons.ts';
import { tellSwitch, textOf } from '../text/tell-action.ts';
import type { WaitAnswer } from './explain-wait.ts';
import {
  type Actor,
  actorOn,
  adviceOn,
  count,
  FAILING,
  withoutStop,
} from './reason-explanations.ts';

/** What holds up work, as the rows have it: waiting jobs of one reason, or a cause without any. */
export interface Hindrance {
  /** A reason to wait, or a word such as `service_silent`. */
  readonly name: string;
  /** What it is about, if that is one: a switch, a kind of task, a service, a login, a pool, … */
  readonly subject: string | null;
  /** How many of these it is about; of a cause with jobs, how many entities have them. */
  readonly many: number;
  readonly jobs: number;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly by: string | null;
  readonly message: string | null;
  readonly pools: readonly string[];
  readonly job: number | null;
}

export interface FleetDiagnosis extends Hindrance {
  readonly sentence: string;
  readonly actor: Actor;
  readonly advice: string;
  /** What a person may do about it here: lift the switch `subject`, or have it tried again now. */
  readonly act: 'resume' | 'try-again' | null;
}

/** What holds back all work, or all that a person named; the worst first. */
const RANKS: readonly string[] = [
  'service_silent',
  'github_unavailable',
  'cluster_unavailable',
  'making_stopped',
];

/** What a pause of ours holds back, which a person may end before its time. */
export const PAUSED = {
  keys: ['workers_failing', 'github_does_not_assign', 'runner_outdated'],
  refusals: ['installation_refused', 'installation_gone', 'repository_refused', 'repository_gone'],
  groups: ['runner_group_open'],
  tasks: ['tasks_asleep'],
} as const;

const TRIED_AGAIN: ReadonlySet<string> = new Set(Object.values<readonly string[]>(PAUSED).flat());

/**
 * Lower is worse: what is away, what people hold back, what holds back jobs, and the rest; what
 * somebody must mend before what time or will mends.
 */
function rankOf({ name, actor, jobs }: FleetDiagnosis): number {
  const isWill = name === 'making_stopped' && jobs === 0;
  if (RANKS.includes(name) && !isWill) return RANKS.indexOf(name);
  return RANKS.length + (jobs > 0 ? 0 : 2) + (actor === 'wait' || isWill ? 1 : 0);
}

const MOST_OF_NAME = 10;

/** Causes, the worst first. One that holds back jobs has the words of the oldest of them. */
export function diagnoseFleet(
  found: readonly Hindrance[],
  explained: ReadonlyMap<number, Explained>,
): FleetDiagnosis[] {
  const all = found
    .map((one) => diagnose(one, one.job === null ? undefined : explained.get(one.job)))
    .toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) || b.jobs - a.jobs || Number(a.since ?? 0) - Number(b.since ?? 0),
    );
  return all.flatMap((one) => {
    const ofName = all.filter(({ name }) => name === one.name);
    const [place, left] = [ofName.indexOf(one) + 1, ofName.length - MOST_OF_NAME];
    const more = place === MOST_OF_NAME && left > 0 ? ` And ${left} more of this kind.` : '';
    return place > MOST_OF_NAME ? [] : [{ ...one, sentence: one.sentence + more }];
  });
}

type Explained = Pick<WaitAnswer, 'sentence' | 'actor' | 'advice'>;

function diagnose(one: Hindrance, words?: Explained): FleetDiagnosis {
  const { name } = one;
  return {
    ...one,
    sentence: words === undefined ? quietSentence(one) : `${among(one)}${words.sentence}`,
    actor: words?.actor ?? actorOn(name),
    advice: words?.advice ?? ADVICE[name] ?? NOTHING_WAITS,
    act: name === 'making_stopped' ? 'resume' : TRIED_AGAIN.has(name) ? 'try-again' : null,
  };
}

/** The words are those of one job: of how many pools or accounts they hold besides. */
function among({ name, pools, many }: Hindrance): string {
  if (RANKS.includes(name)) return '';
  if (pools.length > 1) return `In ${pools.length} pools; of the oldest job: `;
  return many > 1 ? `For ${many} accounts; of the oldest job: ` : '';
}

const NOTHING_WAITS = 'Nothing waits for it now; it will hold back the next job.';

const ADVICE: Readonly<Record<string, string>> = {
  service_silent: 'Look at its pods, their restarts and their log.',
  making_stopped: 'Resume it once its reason is over.',
  stops_held: 'Look at the worker: its pod, its node and its log.',
  workers_held: 'Look at the pods, their nodes and their logs.',
  tasks_asleep: 'Mend what their failures say; they are tried again by themselves.',
  kind_unserved: 'See whether the service that runs this kind lives, in this version.',
  versions_apart: 'Finish the upgrade, or go back: all services to one version, then the schema.',
  change_refused: 'Mend what it names. `paddock pools check` shows all mistakes of the file.',
  notifications_refused: 'Mend the address or its receiver; they are sent again every minute.',
  runner_outdated: 'Give the pool a newer runner image.',
  workers_failing: FAILING,
  app_unfit: 'Mend it at GitHub; the sweep check-apps looks again.',
};

/** One cause by itself, whether or not jobs wait for it. */
export function tellCause(name: string, subject: string, message: string | null) {
  const sentence = quietSentence({ name, subject, many: 1, by: null, message });
  return { sentence, advice: adviceOn(name) ?? ADVICE[name] ?? 'See `paddock troubles`.' };
}

/** What does not happen while no process of a service lives. */
const WITHOUT: Readonly<Record<string, string>> = {
  ingress: 'no delivery of GitHub is stored',
  scheduler: 'no worker is made, followed or stopped',
  reconciler: 'nothing that was missed is found',
};

interface Words extends Pick<Hindrance, 'many' | 'by'> {
  readonly subject: string;
  /** As `: no answer`. */
  readonly because: string;
  /** The one that it is about, or how many. */
  readonly of: (one: string, others?: string) => string;
}

const refused = ({ of, because }: Words, one = 'account', others = `${one}s`) =>
  `GitHub refuses what Paddock asks for ${of(one, others)}${because}.`;
const ofRepository = (words: Words) => refused(words, 'repository', 'repositories');

/** Reasons of which the jobs that wait are the only sign: a pool has them, or an entity. */
export const UNSERVED_POOLS = [
  'pool_unknown',
  'no_pool_fits',
  'pool_closed',
  'no_capacity',
] as const;
export const UNSERVED_ENTITIES = [
  'entity_not_allowed',
  'app_not_configured',
  'installation_suspended',
] as const;
const UNSERVED = [...UNSERVED_POOLS, ...UNSERVED_ENTITIES];

const QUIET: Readonly<Record<string, (words: Words) => string>> = {
  service_silent: ({ subject }) =>
    `No process of the service ${subject} gives a sign of life: ${WITHOUT[subject]}.`,
  github_unavailable: ({ because }) => `GitHub does not answer${because}.`,
  cluster_unavailable: ({ because }) => `The cluster does not answer${because}.`,
  making_stopped: ({ by, subject, because }) =>
    `${by} holds back ${textOf(tellSwitch(subject))}${because}.`,
  pool_paused: ({ of }) => `The configuration has paused ${of('pool')}.`,
  runner_group_open: ({ of, because }) =>
    `The runner group of ${of('pool')} lets in more than the pool serves${because}.`,
  workers_failing: ({ of, because }) =>
    `Workers in ${of('pool')} fail before they have a job${because}.`,
  github_budget: ({ of, because }) =>
    `GitHub has Paddock wait with its calls for ${of('account')}${because}.`,
  versions_apart: ({ because }) =>
    `Services of different versions, or older than the schema, run side by side${because}.`,
  change_refused: ({ subject, because }) => `Said by ${subject}${because}.`,
  notifications_refused: ({ because }) => `Notifications do not arrive${because}.`,
  app_unfit: ({ because }) => `An App lacks something${because}.`,
  stops_held: ({ many, subject, because }) =>
    `${count(many, 'worker does', 'workers do')} not go, ${subject} for the longest${because}.`,
  workers_held: ({ subject, because }) => `Workers of ${subject} do not go${because}.`,
  tasks_asleep: ({ many, subject, because }) =>
    `${count(many, 'failed task waits', 'failed tasks wait')} for the next try, ${subject}${because}.`,
  kind_unserved: ({ many, subject }) =>
    `${count(many, 'task waits', 'tasks wait')}, and no living process runs those of the kind ${subject}.`,
  runner_outdated: ({ of, because }) =>
    `GitHub no longer serves the runner version of ${of('pool')}${because}.`,
  ...Object.fromEntries(
    UNSERVED.map((name) => [
      name,
      ({ of }: Words) => `Jobs wait for ${of('pool')}: ${WAIT_REASONS[name]}.`,
    ]),
  ),
  repository_refused: ofRepository,
  repository_gone: ofRepository,
};

function quietSentence({
  name,
  subject,
  many,
  by,
  message,
}: Pick<Hindrance, 'name' | 'subject' | 'many' | 'by' | 'message'>): string {
  const because = message ? `: ${withoutStop(message)}` : '';
  const of = (one: string, others?: string) =>
    many === 1 && subject !== null ? subject : count(many, one, others);
  return (QUIET[name] ?? refused)({ subject: subject ?? '', many, by, because, of });
}
