import { notificationsPart } from '@paddock/domain/pools/config-file';
import { readSecret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { findCauses } from '@paddock/db/causes';
import { findInstance } from '@paddock/db/instance';
import { tellCause } from '@paddock/domain/why/diagnose-fleet';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { post } from '../post-json.ts';

/** The list of the causes that people know of. */
const TOLD = 'told';

/**
 * Posts what people must act on when it begins and when it is over. The next pass posts again what
 * the webhook has not accepted, and what a pass posted that died before its commit.
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
        ? await post('the webhook', to.url, tellCauses(await findInstance(db), news), pass)
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

/** Something that people must act on, or no longer must. */
interface Told {
  readonly state: 'began' | 'over';
  readonly name: string;
  readonly subject: string;
  readonly since: Date | null;
  readonly message: string | null;
}

/** Most causes of a message. */
const MOST = 20;
/** Slack cuts a text off far above twenty of these. Half an emoji at the end would be no Unicode. */
const LONGEST = 500;

/** What is posted: `text` as Slack has it, and the same in fields. */
function tellCauses(instance: string, told: readonly Told[]): object {
  const causes = told.slice(0, MOST).map(({ state, name, subject, since, message }) => {
    const { sentence, advice } = tellCause(name, subject, state === 'over' ? null : message);
    return { state, name, subject: cut(subject), since, sentence: cut(sentence), advice };
  });
  const more = told.length - causes.length;
  const lines = causes.map(({ state, sentence, advice }) =>
    state === 'over' ? `• Over: ${sentence}` : `• ${sentence} ${advice}`,
  );
  const rest = more === 0 ? [] : [`And ${more} more: see \`paddock troubles\`.`];
  const text = plain([`Paddock ${instance}:`, ...lines, ...rest].join('\n'));
  return { text, instance, causes, more };
}

const cut = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST - 1).toWellFormed()}…` : text;

/** Others write names and messages: none of them may mention people or hide a link. */
const plain = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Reads the webhook of notifications as the configuration file and its secret are now. While the file
 * cannot be read, it is as it was: that the file is refused must be told too.
 */
export function createWebhook(path: string, environment: Environment): SweepContext['webhook'] {
  let last: { readonly webhook: ReturnType<SweepContext['webhook']> } | undefined;
  return () => {
    const { value, problems } = readYamlFile(path, notificationsPart);
    if (value === undefined)
      return last === undefined ? { problem: problems.join('; ') } : last.webhook;
    const webhook = webhookOf(value.notifications?.webhook, environment);
    last = { webhook };
    return webhook;
  };
}

function webhookOf(
  source: Parameters<typeof readSecret>[1],
  environment: Environment,
): ReturnType<SweepContext['webhook']> {
  if (source === undefined) return undefined;
  const problems: string[] = [];
  const what = 'The webhook of notifications';
  const secret = readSecret(what, source, environment, problems);
  const url = secret && URL.parse(secret.reveal());
  if (url && /^https?:$/.test(url.protocol)) return { url };
  // The address is a secret: it is not shown.
  if (secret !== undefined) problems.push(`${what} is no address such as https://…`);
  return { problem: problems.join('; ') };
}
