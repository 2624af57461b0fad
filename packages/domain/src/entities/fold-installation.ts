import { type InstallationEvent, type InstallationFact, orderFacts } from './installation-facts.ts';

/** What an installation was at a time, as far as its events say. */
export interface InstallationState {
  /** `unknown`: no event says. */
  readonly status: 'unknown' | 'installed' | 'suspended' | 'deleted';
  /** Since when. Null: since before the first event. */
  readonly since: string | null;
  readonly login: string | null;
  /** `all` or `selected`; null: no event says. */
  readonly selection: string | null;
  /** Those that events have named and not removed, by their names. */
  readonly repositories: readonly string[];
  /** Those that events have removed since. */
  readonly removed: readonly string[];
  /**
   * No other repository is selected. False where the beginning is unknown: an earlier event may have
   * added some.
   */
  readonly isComplete: boolean;
}

/** One step of the state: what an event did, and when GitHub says that it happened. */
export interface InstallationStep {
  readonly id: string;
  readonly at: string;
  readonly event: string;
}

/** Folds the events up to `until`, each delivery once, in GitHub's order. */
export function foldInstallation(
  events: readonly InstallationEvent[],
  until: Date,
): { state: InstallationState; steps: InstallationStep[] } {
  const last = until.toISOString();
  const facts = orderFacts(events).filter(({ at }) => at <= last);
  const known = new Map<number, string>();
  const removed = new Map<number, string>();
  const state: State = {
    status: 'unknown',
    since: null,
    login: null,
    selection: null,
    isComplete: false,
  };
  for (const fact of facts) {
    Object.assign(state, after(state, fact));
    for (const { id, full_name: name } of fact.named) {
      known.set(id, name);
      removed.delete(id);
    }
    for (const { id, full_name: name } of fact.removed) {
      known.delete(id);
      removed.set(id, name);
    }
    if (fact.event === 'installation.deleted') known.clear();
  }
  return {
    state: { ...state, repositories: names(known), removed: names(removed) },
    steps: facts.map(({ id, at, event }) => ({ id, at, event })),
  };
}

const names = (repositories: ReadonlyMap<number, string>): string[] =>
  [...repositories.values()].toSorted();

type State = Omit<InstallationState, 'repositories' | 'removed'>;

/** What an event changes, apart from the repositories that it names. */
function after(before: State, fact: InstallationFact): Partial<State> {
  const said = {
    login: fact.login ?? before.login,
    selection: fact.selection ?? before.selection,
    isComplete: staysComplete(before, fact),
  };
  const turned = (status: State['status']) => ({ ...said, status, since: fact.at });
  switch (fact.event) {
    case 'installation.created':
      return { ...turned('installed'), isComplete: true };
    case 'installation.deleted':
      return turned('deleted');
    case 'installation.suspend':
      return turned('suspended');
    case 'installation.unsuspend':
      return turned('installed');
    default:
      // It was there already, and nobody knows since when.
      if (before.status === 'unknown')
        return { ...said, status: fact.isSuspended ? 'suspended' : 'installed' };
      return said;
  }
}

/** Repositories that came while all were selected are named by no event. */
const staysComplete = (before: State, { selection }: InstallationFact): boolean =>
  selection === 'all' ||
  (before.isComplete && !(before.selection === 'all' && selection === 'selected'));
