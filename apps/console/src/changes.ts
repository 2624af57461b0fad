import type { ServerResponse } from 'node:http';
import type { Changes, Watched } from '@paddock/api/sessions/read-changes';
import type { Request } from 'express';
import {
  type Answered,
  type AnswerOptions,
  BUSY,
  nothingThere,
  STRANGER,
  withBearer,
} from './http/answer.ts';
import { createPlaces } from './places.ts';

/** Clients at a time, in all and of one token: each holds a connection and a little memory. */
const MOST = { most: 500, mostEach: 100 };

/**
 * How often a page hears that the console and its database answer, also where nothing changes. The
 * page takes a longer silence for an outage, and proxies close connections on which nothing moves.
 */
const ALIVE_EVERY_MS = 10_000;

/** A client comes again with its session, which may be over by then. */
const LONGEST_MS = 15 * 60_000;

/** A client that has not read so much has gone, or is too slow to follow. */
const MOST_UNREAD_BYTES = 1_000_000;

interface Client {
  readonly response: ServerResponse;
  /** As a credential's. */
  readonly ownerId: string;
  /** The name of its token. Undefined: it has none. */
  readonly token: string | undefined;
  /** The id of its session. Undefined: it has shown a token, or a proxy named it. */
  readonly session: string | undefined;
  readonly until: number;
  isNew: boolean;
  saidAt: number;
}

export interface ChangesOptions {
  /** What has changed since, and which of the tokens and sessions are still good. */
  readonly look: (tokens: readonly string[], sessions: readonly string[]) => Promise<Changes>;
  /** How long it is from one look to the next: the console is silent for as long. */
  readonly lookEveryMs: number;
}

/**
 * Tells pages what has changed, as server-sent events. A new client hears of everything once: it
 * has missed what changed between its first answers and its first look.
 */
export function createChangeStreams({ look, lookEveryMs }: ChangesOptions) {
  const clients = new Set<Client>();
  const take = createPlaces(MOST);
  let before: Changes['written'] | undefined;

  const say = (client: Client, text: string): void => {
    client.saidAt = performance.now();
    if (!clients.has(client) || client.response.writableEnded) return;
    if (client.response.writableLength > MOST_UNREAD_BYTES) client.response.destroy();
    else client.response.write(text);
  };

  return {
    /** Until the client goes, or its token or session ends. Undefined: there is no place. */
    async open(who: Pick<Client, 'ownerId' | 'token' | 'session'>) {
      const leave = await take(who.ownerId);
      if (leave === undefined) return undefined;
      return (response: ServerResponse): void => {
        if (response.destroyed) return leave();
        const now = performance.now();
        const client = { ...who, response, until: now + LONGEST_MS, isNew: true, saidAt: now };
        clients.add(client);
        response.once('close', () => {
          clients.delete(client);
          leave();
        });
        say(client, `retry: 3000\n\n${ALIVE}`);
      };
    },
    /** Looks once for all clients, and tells them. Without a client it looks at nothing. */
    async once(): Promise<void> {
      if (clients.size === 0) {
        before = undefined;
        return;
      }
      const present = [...clients];
      const { written, tokens, sessions } = await look(
        [...new Set(present.flatMap(({ token }) => token ?? []))],
        present.flatMap(({ session }) => session ?? []),
      );
      const isOver = ({ token, session }: Client) =>
        (token !== undefined && !tokens.includes(token)) ||
        (session !== undefined && !sessions.includes(session));
      const changed = changesBetween(before, written);
      before = written;
      const all = Object.keys(written);
      const now = performance.now();
      for (const client of present) {
        if (isOver(client) || now > client.until) client.response.end();
        else if (client.isNew) say(client, event('changed', all));
        else if (changed.length > 0) say(client, event('changed', changed));
        else if (now - client.saidAt >= ALIVE_EVERY_MS - lookEveryMs / 2) say(client, ALIVE);
        client.isNew = false;
      }
    },
    close(): void {
      for (const { response } of clients) response.end();
    },
  };
}

const changesBetween = (before: Changes['written'] | undefined, now: Changes['written']) =>
  (Object.keys(now) as Watched[]).filter((table) => now[table] !== before?.[table]);

const event = (name: string, data: unknown): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const ALIVE = event('alive', null);

export type ChangeStreams = ReturnType<typeof createChangeStreams>;

/** Opens a stream of changes for a bearer, who then holds no place of a request. */
export const answerChanges = (
  { admit, streams }: Pick<AnswerOptions, 'admit'> & { readonly streams: ChangeStreams },
  request: Request,
): Promise<Answered> =>
  withBearer({ admit }, request, async ({ bearer, credential: { ownerId, session } }) => {
    if (bearer.narrowedTo !== null) return { reply: STRANGER };
    if (request.method !== 'GET') return { reply: nothingThere(['GET']) };
    const begin = await streams.open({
      ownerId,
      token: bearer.token,
      session: session?.id,
    });
    return { reply: begin ? { status: 200, headers: HEADERS, text: '', begin } : BUSY };
  });

/** Compression and buffers on the way would hold events back. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
