import { problemDetails } from '@paddock/api/problem';
import type { z } from 'zod';
import { type Endpoint, fieldsOfPath } from '@paddock/api/endpoint';
import { printable } from './columns.ts';
import { type Asker, type Fields, NoAnswer } from './asker.ts';
import type { Api } from './settings.ts';

/** One sentence or two about an answer that is none. `asked` is the request's method and address. */
function problemOf(
  asked: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
): string {
  const problem = problemDetails.safeParse(parseJson(text)).data;
  if (status >= 300 && status < 400)
    return `${asked} leads on to ${printable(headers.get('location') ?? 'another address')}: the token is not sent there. Set PADDOCK_URL to the address that answers itself.`;
  // A proxy before the console may refuse, too.
  if (problem === undefined)
    return `${asked} was answered with ${status}, and not by a console. Is PADDOCK_URL its address, with its path prefix if it has one?`;
  const detail = printable(problem.detail);
  switch (status) {
    case 401:
      return `${asked} was refused: PADDOCK_TOKEN is unknown there, revoked, or a token for something else. \`paddock token create NAME\` makes a new one, where DATABASE_URL is set.`;
    case 403:
      return `${asked} was refused: ${detail} PADDOCK_TOKEN needs the access \`operate\`: \`paddock token create NAME --access operate\`.`;
    case 400:
      return [detail, ...(problem.errors ?? []).map(mistake)].join('\n');
    case 404:
    case 409:
      return detail;
    default:
      return `${asked} was answered with ${status}: ${detail}`;
  }
}

const mistake = ({ place, message }: { place: string; message: string }): string =>
  `  ${printable(place)}: ${printable(message)}`;

const RIGHT = 'Is PADDOCK_URL right, and is the console running?';

/** Why no answer came, from the error of `fetch`, which wraps that of the connection. */
function whyUnreachable(error: unknown): string {
  const { name, message, code = '' } = connectionErrorOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens there. ${RIGHT}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no such host. ${RIGHT}`;
  if (/CERT|SIGNATURE|ALTNAME/.test(code))
    return `its certificate is not trusted (${code}). NODE_EXTRA_CA_CERTS names a PEM file with a certificate authority of your own.`;
  return name === 'TimeoutError'
    ? `no answer came in time. ${RIGHT}`
    : `no answer came (${printable(`${code} ${message}`.trim())}). ${RIGHT}`;
}

/** The innermost cause. `fetch` throws errors of other realms too, so their class is not asked for. */
function connectionErrorOf(error: unknown): NodeJS.ErrnoException {
  const thrown = error as NodeJS.ErrnoException;
  return thrown.cause === undefined ? thrown : connectionErrorOf(thrown.cause);
}

/** The API itself answers within its statement's time; this is for a network that loses packets. */
const TIMEOUT_MS = 30_000;

export function apiAsker({ url, token }: Api): Asker {
  const closing = new AbortController();
  return {
    name: url,
    async ask(endpoint, fields) {
      const { method, output } = endpoint;
      const address = `${url}${pathOf(endpoint, fields)}`;
      const asked = `${method} ${address}`;
      const { query, body } = restOf(endpoint, fields);
      const answer = await fetch(`${address}${query}`, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token.reveal()}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
        // The token is for this address only.
        redirect: 'manual',
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      }).catch((error: unknown): never => {
        throw new NoAnswer(`${asked}: ${whyUnreachable(error)}`, { cause: error });
      });
      const text = await answer.text().catch((error: unknown): never => {
        throw new NoAnswer(`${asked}: ${whyUnreachable(error)}`, { cause: error });
      });
      if (!answer.ok) throw new NoAnswer(problemOf(asked, answer, text));
      const said = parseJson(text);
      if (output.safeParse(said).success) return said as z.input<typeof output>;
      throw new NoAnswer(
        `${asked} was answered with something else than this version of \`paddock\` knows. Is PADDOCK_URL the address of the console, and is it of the same version?`,
      );
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** Throws a NoAnswer for a value that cannot be a part of a path. */
const pathOf = ({ path }: Endpoint, fields: Fields): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, field: string) => {
    const value = String(fields[field]);
    // No encoding keeps these from being read as steps in the path.
    if (/^\.{0,2}$/.test(value))
      throw new NoAnswer(`The API cannot be asked for the ${field} "${value}".`);
    return encodeURIComponent(value);
  });

/** What the path does not have: as a query, or as a body. */
function restOf(
  { method, path }: Endpoint,
  fields: Fields,
): { query: string; body: string | undefined } {
  const inPath = fieldsOfPath(path);
  const rest = Object.entries(fields).filter(
    ([field, value]) => value !== undefined && !inPath.includes(field),
  );
  if (method !== 'GET') return { query: '', body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams(rest.map(([field, value]) => [field, String(value)]));
  return { query: rest.length === 0 ? '' : `?${query.toString()}`, body: undefined };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
