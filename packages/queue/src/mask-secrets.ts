import { storable } from '@paddock/domain/text/storable';
import type { Secret } from '@paddock/runtime/secret';

const MASK = '[secret]';
const LONGEST_MESSAGE = 2_000;
/** Masking shorter values, which are common words, would make messages unreadable. */
const SHORTEST_SECRET = 6;

/** Patterns of credentials that are made at run time, so no list can hold them. */
const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/\b(gh[a-z]_|github_pat_)\w{10,}/g, MASK],
  // Tokens of the API.
  [/\bpaddock_[0-9a-f]{16}_[\w-]{43}/g, MASK],
  // Base64 of a JSON object: JSON web tokens and runners' JIT configurations.
  [/\beyJ[\w+/=.-]{20,}/g, MASK],
  [/\b(bearer|basic|token) +[\w+/=.~-]{8,}/gi, `$1 ${MASK}`],
  [/(\/\/[^\s:/@]*):[^\s/@]+@/g, `$1:${MASK}@`],
];

/**
 * Returns the function that masks secrets in messages and outputs before a table stores them. The
 * list may grow: a service reads changed keys.
 */
export function maskSecrets(secrets: readonly Secret[]): (text: string) => string {
  return (text) => {
    const values = secrets
      .map((secret) => secret.reveal())
      .filter((value) => value.length >= SHORTEST_SECRET);
    const withoutKnown = values.reduce((rest, value) => rest.replaceAll(value, MASK), text);
    return CREDENTIALS.reduce(
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
      withoutKnown,
    );
  };
}

/** The stored form of a message. Masks before it cuts, so that no half of a credential remains. */
export const storedMessage = (text: string, mask: (text: string) => string): string =>
  storable(storable(mask(text)).slice(0, LONGEST_MESSAGE));

/**
 * The message of a thrown value and of its causes. Other fields of an error are left out: they may
 * hold a request's headers.
 */
export function messageOf(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error))
    return typeof thrown === 'string'
      ? thrown
      : `a thrown ${thrown === null ? 'null' : typeof thrown}`;
  // Some libraries put an object into `message`.
  const { message }: { message: unknown } = thrown;
  const own = typeof message === 'string' && message !== '' ? message : thrown.name;
  return thrown.cause === undefined || depth >= 3
    ? own
    : `${own}: ${messageOf(thrown.cause, depth + 1)}`;
}
