import { tellCause } from '@paddock/domain/why/diagnose-fleet';

/** Something that people must act on, or no longer must. */
export interface Told {
  readonly state: 'began' | 'over';
  readonly name: string;
  readonly subject: string;
  readonly since: Date | null;
  readonly message: string | null;
}

/** Most causes of a message. */
const MOST = 20;
/** Slack cuts a text off far above twenty of these. */
const LONGEST = 500;

/** What is posted: `text` as Slack has it, and the same in fields. */
export function tellCauses(instance: string, told: readonly Told[]): object {
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
  text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;

/** Others write names and messages: none of them may mention people or hide a link. */
const plain = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
