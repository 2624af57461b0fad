import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import {
  type Answered,
  type AnswerOptions,
  BUSY,
  nothingThere,
  STRANGER,
  withBearer,
} from '../http/answer.ts';
import type { ChangeStreams } from './changes.ts';

/** An answer, or the stream that begins instead. */
export type Opened = Answered & { readonly begin?: (response: ServerResponse) => void };

/** Opens a stream of changes for a bearer, who then holds no place of a request. */
export const answerChanges = (
  { admit, streams }: Pick<AnswerOptions, 'admit'> & { readonly streams: ChangeStreams },
  request: Request,
): Promise<Opened> =>
  withBearer({ admit }, request, ({ bearer, credential: { ownerId, session } }) => {
    if (bearer.narrowedTo !== null) return Promise.resolve({ reply: STRANGER });
    if (request.method !== 'GET') return Promise.resolve({ reply: nothingThere(['GET']) });
    const begin = streams.open({
      ownerId,
      token: bearer.token,
      session: session?.id,
      wantsPools: 'pools' in request.query,
    });
    return Promise.resolve(
      begin === undefined ? { reply: BUSY } : { reply: { status: 200, text: '' }, begin },
    );
  });

/** Compression and buffers on the way would hold events back. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
