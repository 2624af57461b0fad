import { findCauses } from '@paddock/db/causes';
import { findInstance } from '@paddock/db/instance';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { tellCauses, type Told } from './tell-causes.ts';
import { post } from './webhook.ts';

/** The list of the causes that people know of. */
const TOLD = 'told';

/**
 * Tells people what they must act on, once, and once more when it is over. What the webhook does not
 * accept is told by the next pass. A pass that dies after its post is followed by one that tells the
 * same again.
 */
export async function notify(
  { db, webhook, events }: Pick<SweepContext, 'db' | 'webhook' | 'events'>,
  pass: Pick<Pass, 'known' | 'note' | 'signal'>,
): Promise<{ readonly told: number } | { readonly problem: string }> {
  const to = webhook();
  if (to === undefined) {
    pass.note(TOLD, []);
    return { told: 0 };
  }
  const known = new Set(pass.known(TOLD));
  const causes = new Map((await findCauses(db)).map((cause) => [keyOf(cause), cause]));
  const news: Told[] = [
    ...[...causes]
      .filter(([key, { isLasting }]) => isLasting && !known.has(key))
      .map(([, cause]): Told => Object.assign({ state: 'began' as const }, cause)),
    ...[...known].filter((key) => !causes.has(key)).map(overOf),
  ];
  const problem =
    'problem' in to
      ? to.problem
      : news.length > 0
        ? await post(to.url, tellCauses(await findInstance(db), news), pass.signal)
        : undefined;
  if (problem !== undefined) {
    events.notificationRefused(problem);
    return { problem };
  }
  pass.note(
    TOLD,
    [...causes].flatMap(([key, { isLasting }]) => (isLasting || known.has(key) ? [key] : [])),
  );
  return { told: news.length };
}

const keyOf = ({ name, subject }: Pick<Told, 'name' | 'subject'>): string => `${name} ${subject}`;

function overOf(key: string): Told {
  const [name = ''] = key.split(' ', 1);
  return { state: 'over', name, subject: key.slice(name.length + 1), since: null, message: null };
}
