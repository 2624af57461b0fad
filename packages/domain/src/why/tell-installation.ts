import { tellCause } from './diagnose-fleet.ts';
import { count, instant, withoutStop } from './reason-explanations.ts';

export interface InstallationFacts {
  readonly state: 'installed' | 'refused' | 'suspended' | 'deleted';
  /** GitHub's words, where it is refused. */
  readonly refusal: string | null;
  readonly login: string;
  readonly waiting: number;
  readonly busy: number;
  readonly idle: number;
  /** What GitHub allows no more of until then, and its words. */
  readonly usedUp: readonly {
    readonly what: 'calls' | 'calls of sweeps' | 'registrations of runners';
    readonly until: Date;
    readonly message: string | null;
  }[];
}

/** What follows from the state of an installation and from used-up budgets, a sentence each. */
export function tellInstallation(facts: InstallationFacts): string[] {
  const { state, refusal, login, waiting, busy, idle, usedUp } = facts;
  const held = `${count(waiting, 'job')} of ${login} wait${waiting === 1 ? 's' : ''}, no worker is made, busy workers (${busy}) go on to the end of their jobs, and idle ones (${idle}) are deregistered only afterwards`;
  const sentences = usedUp.map(
    ({ what, until, message }) =>
      `GitHub allows no more ${what} for ${login} until ${instant(until)}; then Paddock goes on by itself${message === null ? '' : `: ${withoutStop(message)}`}.`,
  );
  if (state === 'installed') return sentences;
  if (state === 'refused') {
    const { sentence, advice } = tellCause('installation_refused', login, refusal);
    return [`${sentence} ${advice}`, ...sentences];
  }
  const [because, act] =
    state === 'suspended'
      ? ['While the App is suspended, GitHub gives it no access', 'lifts the suspension']
      : ['The App is removed, and unless another one of Paddock is there', 'installs it again'];
  return [
    `${because}: ${held}. An owner of ${login} ${act} in its settings at GitHub; discovery then finds what was missed.`,
    ...sentences,
  ];
}
