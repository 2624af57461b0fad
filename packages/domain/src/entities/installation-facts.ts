import { z } from 'zod';
import { instant, optionalText } from '../deliveries/payload-fields.ts';

/** A stored event of an installation, with the parts of its payload that a state needs. */
export interface InstallationEvent {
  /** Digits; a later row has a greater one. */
  readonly id: string;
  /** As `installation.created`. */
  readonly event: string;
  readonly guid: string | null;
  readonly receivedAt: Date;
  readonly payload: unknown;
}

/** What one delivery says, and when it happened. */
export interface InstallationFact extends Said {
  readonly id: string;
  readonly event: string;
  /** ISO 8601; never before that of the fact before it. */
  readonly at: string;
}

type Said = Omit<z.output<typeof payloadOf>, 'statedAt'>;

/**
 * Reads each delivery once, in GitHub's order: by the payload's instants, then by the first arrival
 * of the delivery. Events may be given in any order.
 */
export function orderFacts(events: readonly InstallationEvent[]): InstallationFact[] {
  const arrivals = events.toSorted(
    (a, b) => Number(a.receivedAt) - Number(b.receivedAt) || Number(a.id) - Number(b.id),
  );
  // A redelivery has the GUID of the first one.
  const deliveries = Map.groupBy(arrivals, ({ guid, id }) => guid ?? id);
  const firsts = [...deliveries.values()].flatMap((all) => all.slice(0, 1));
  return date(
    firsts
      .map(read)
      .toSorted((a, b) => placeOf(a.event) - placeOf(b.event) || a.statedAt - b.statedAt),
  );
}

/** The creation comes first and the deletion last, whatever their instants. */
const placeOf = (event: string): number =>
  event === 'installation.created' ? 0 : event === 'installation.deleted' ? 2 : 1;

interface Read extends Said {
  readonly id: string;
  readonly event: string;
  /** Milliseconds since 1970, as `statedAt`. */
  readonly firstAt: number;
  readonly statedAt: number;
}

function read({ id, event, receivedAt, payload }: InstallationEvent): Read {
  const { statedAt, ...said } = payloadOf.parse(payload);
  const firstAt = Number(receivedAt);
  return {
    ...said,
    id,
    event,
    firstAt,
    statedAt: statedAt === null ? firstAt : Date.parse(statedAt),
  };
}

/**
 * Many an event has the instant of the one before it: GitHub's are whole seconds, and adding a
 * repository leaves that of the installation as it is. It happened as long after the one before as
 * it arrived after it, and before the next one.
 */
function date(facts: readonly Read[]): InstallationFact[] {
  let newest = Number.NEGATIVE_INFINITY;
  let before = 0;
  let arrivedBefore = 0;
  const dated = facts.map(({ statedAt, firstAt, ...fact }) => {
    const at = statedAt > newest ? statedAt : before + Math.max(0, firstAt - arrivedBefore);
    newest = Math.max(newest, statedAt);
    before = at;
    arrivedBefore = firstAt;
    return { ...fact, at };
  });
  let next = Number.POSITIVE_INFINITY;
  return dated
    .toReversed()
    .map(({ at, ...fact }) => {
      next = Math.min(next, at);
      return Object.assign(fact, { at: new Date(next).toISOString() });
    })
    .toReversed();
}

const repository = z.object({ id: z.int(), full_name: z.string() });
const repositories = z.array(repository).catch([]);
const text = optionalText.catch(null);
const object = z.looseObject({}).catch({});

/** Reads what is there: what cannot be read says nothing. */
const payloadOf = object
  .pipe(
    z.object({
      installation: object,
      account: object,
      repositories,
      repositories_added: repositories,
      repositories_removed: repositories,
      repository_selection: text,
    }),
  )
  .transform(({ installation, account, ...lists }) => {
    const owner = object.parse(installation['account']);
    return {
      statedAt: instant.parse(installation['updated_at'] ?? account['updated_at']),
      isSuspended: instant.parse(installation['suspended_at']) !== null,
      login: text.parse(account['login']) ?? text.parse(owner['login']),
      selection: lists.repository_selection ?? text.parse(installation['repository_selection']),
      named: [...lists.repositories, ...lists.repositories_added],
      removed: lists.repositories_removed,
    };
  });
