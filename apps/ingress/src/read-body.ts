import type { IncomingMessage } from 'node:http';
import type { BodyBudget } from './body-budget.ts';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'cut_off' | 'too_slow' | 'aborted' };

/**
 * Reads a request's body within the budget and `timeoutMs`. Bytes beyond that are read and dropped,
 * so that the sender can read the answer. The budget counts the request until `release` is called.
 */
export function readBody(
  request: IncomingMessage,
  budget: BodyBudget,
  timeoutMs: number,
): Promise<{ body: Body; release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<{ body: Body; release: () => void }>();
  const chunks: Buffer[] = [];
  let size = 0;
  let isSettled = false;
  const claim = budget.admit(() => settle({ kind: 'cut_off' }));
  const release = () => claim?.release();
  const settle = (body: Body) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    if (body.kind === 'whole') {
      claim?.arrived();
    } else {
      release();
      chunks.length = 0;
    }
    resolve({ body, release });
  };
  // Node's HTTP server checks its limit only once a second.
  const timer = setTimeout(() => settle({ kind: 'too_slow' }), timeoutMs);

  if (claim === undefined) settle({ kind: 'overloaded' });
  if (Number(request.headers['content-length'] ?? 0) > budget.maxBodyBytes)
    settle({ kind: 'too_large' });
  request.on('data', (chunk: Buffer) => {
    if (isSettled) return;
    size += chunk.length;
    if (size > budget.maxBodyBytes) return settle({ kind: 'too_large' });
    if (claim?.hold(chunk.length) !== true) return settle({ kind: 'overloaded' });
    chunks.push(chunk);
  });
  request.on('end', () =>
    settle({
      kind: 'whole',
      bytes: chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks),
    }),
  );
  request.on('error', () => settle({ kind: 'aborted' }));
  request.on('close', () => settle({ kind: 'aborted' }));
  return promise;
}
