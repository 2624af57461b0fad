import { z } from 'zod';
import { instant, optionalText } from '../deliveries/payload-fields.ts';

/** A stored event of an installation, with the parts of its payload that a state needs. */
export interface InstallationEvent {
  readonly id: string;
  /** As `installation.created`. */
  readonly event: string;
  readonly guid: string | null;
  readonly receivedAt: Date;
  readonly payload: unknown;
}

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

/**
 * Folds the events up to `until`, each delivery once, in GitHub's order: by the payload's instants,
 * then by the first arrival of the delivery. Events may be given in any order.
 */
export function foldInstallation(
  events: readonly InstallationEvent[],
  until: Date,
): { state: InstallationState; steps: InstallationStep[] } {
  const last = until.toISOString();
  const facts = inOrder(events).filter(({ at }) => at <= last);
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
    for (const { id, full_name: name } of [...fact.listed, ...fact.added]) {
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

interface Fact extends z.output<typeof payloadOf> {
  readonly id: string;
  readonly event: string;
  readonly at: string;
  readonly firstAt: string;
}

const repository = z.object({ id: z.int(), full_name: z.string() });
const repositories = z.array(repository).catch([]);
const text = optionalText.catch(null);
const object = z.looseObject({}).catch({});

/** Reads what is there: what cannot be read says nothing. */
const payloadOf = z
  .looseObject({
    installation: object,
    account: object,
    repositories,
    repositories_added: repositories,
    repositories_removed: repositories,
    repository_selection: text,
  })
  .catch({
    installation: {},
    account: {},
    repositories: [],
    repositories_added: [],
    repositories_removed: [],
    repository_selection: null,
  })
  .transform(({ installation, account, ...lists }) => {
    const owner = object.parse(installation['account']);
    return {
      statedAt: instant.parse(installation['updated_at'] ?? account['updated_at']),
      suspendedAt: instant.parse(installation['suspended_at']),
      login: text.parse(account['login']) ?? text.parse(owner['login']),
      selection: lists.repository_selection ?? text.parse(installation['repository_selection']),
      listed: lists.repositories,
      added: lists.repositories_added,
      removed: lists.repositories_removed,
    };
  });

/** Each delivery once. A redelivery has the GUID of the first one. */
function inOrder(events: readonly InstallationEvent[]): Fact[] {
  const seen = new Set<string>();
  return events
    .toSorted((a, b) => Number(a.receivedAt) - Number(b.receivedAt))
    .flatMap(({ id, event, guid, receivedAt, payload }): Fact[] => {
      if (guid !== null && seen.has(guid)) return [];
      if (guid !== null) seen.add(guid);
      const read = payloadOf.parse(payload);
      const firstAt = receivedAt.toISOString();
      return [{ ...read, id, event, firstAt, at: read.statedAt ?? firstAt }];
    })
    .toSorted((a, b) => compare(a.at, b.at) || compare(a.firstAt, b.firstAt));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

type State = Omit<InstallationState, 'repositories' | 'removed'>;

/** What an event changes, apart from the repositories that it names. */
function after(before: State, fact: Fact): Partial<State> {
  const said = {
    login: fact.login ?? before.login,
    selection: fact.selection ?? before.selection,
    isComplete: staysComplete(before, fact),
  };
  const turned = (status: State['status']) =>
    before.status === status ? said : { ...said, status, since: fact.at };
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
        return { ...said, status: fact.suspendedAt === null ? 'installed' : 'suspended' };
      return said;
  }
}

/** Repositories that came while all were selected are named by no event. */
const staysComplete = (before: State, { selection }: Fact): boolean =>
  selection === 'all' ||
  (before.isComplete && !(before.selection === 'all' && selection === 'selected'));
