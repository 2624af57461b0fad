import express, { type Request, type Response } from 'express';
import type { BodyBudget } from './body-budget.ts';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'cut_off' | 'aborted' };

/** The budget counts the request until `release` is called. */
export type ReadBody = (
  request: Request,
  response: Response,
) => Promise<{ readonly body: Body; readonly release: () => void }>;

/** Reads bodies within the budget. The server limits their time. */
export function createReadBody(budget: BodyBudget): ReadBody {
  const { maxBodyBytes } = budget;
  const readRaw = express.raw({ type: () => true, limit: maxBodyBytes });

  return (request, response) => {
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<ReadBody>>>();
    const claim = budget.admit(() => cutOff());
    const release = () => claim?.release();
    const settle = (body: Body) => {
      if (body.kind === 'whole') claim?.arrived();
      else release();
      resolve({ body, release });
    };
    const cutOff = () => {
      // Express keeps what has come until the connection ends, and no more comes.
      request.pause();
      settle({ kind: 'cut_off' });
    };
    if (claim === undefined) {
      settle({ kind: 'overloaded' });
      return promise;
    }
    let size = Number(request.headers['content-length'] ?? 0) > maxBodyBytes ? Infinity : 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // Express reads the rest of a body that is too large, and keeps none of it.
      if (size > maxBodyBytes) release();
      else if (!claim.hold(chunk.length)) cutOff();
    });
    // A signature is over the bytes as they come.
    delete request.headers['content-encoding'];
    readRaw(request, response, (error?: { status?: number }) => {
      if (error !== undefined) settle({ kind: error.status === 413 ? 'too_large' : 'aborted' });
      else settle({ kind: 'whole', bytes: request.body ?? Buffer.alloc(0) });
    });
    return promise;
  };
}
