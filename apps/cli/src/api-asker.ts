import { type Endpoint, fieldsOfPath } from '@paddock/api/endpoint';
import type { z } from 'zod';
import { type Asker, type Fields, NoAnswer } from './asker.ts';
import { problemOf, whyUnreachable } from './api-problems.ts';
import type { Api } from './settings.ts';

/** The API itself answers within its statement's time; this is for a network that loses packets. */
const TIMEOUT_MS = 30_000;

/** Asks the API of a console. */
export function apiAsker({ url, token }: Api): Asker {
  const closing = new AbortController();
  return {
    name: url,
    async ask(endpoint, fields) {
      const { method, media, output } = endpoint;
      const address = `${url}${pathOf(endpoint, fields)}`;
      const asked = `${method} ${address}`;
      const { query, body } = restOf(endpoint, fields);
      const answer = await fetch(`${address}${query}`, {
        method,
        headers: {
          accept: media ?? 'application/json',
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
      const said = media === undefined ? parseJson(text) : text;
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
      throw new NoAnswer(`The API cannot be asked for a ${field} of the name "${value}".`);
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
