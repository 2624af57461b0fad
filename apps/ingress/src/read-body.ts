import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'too_slow' | 'aborted' };

/** The memory that all deliveries share which are neither stored nor refused. */
export interface BodyBudget {
  /** Longest time for a body to arrive whole, in milliseconds. */
  readonly bodyTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxHeldBytes: number;
  heldBytes: number;
  readonly maxRequests: number;
  requests: number;
}

/**
 * Reads a request's body as it was sent, within the limits. What is not kept is still taken off the wire, so that the sender gets to read
 * the answer. The request and its bytes stay counted until `release` is called.
 */
export function readBody(request: IncomingMessage, budget: BodyBudget): Promise<{ body: Body; release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<{ body: Body; release: () => void }>();
  const chunks: Buffer[] = [];
  let size = 0;
  let isSettled = false;
  let isCounted = budget.requests < budget.maxRequests;
  if (isCounted) budget.requests++;
  const release = () => {
    budget.heldBytes -= size;
    size = 0;
    if (isCounted) budget.requests--;
    isCounted = false;
  };
  const settle = (body: Body) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    if (body.kind !== 'whole') {
      release();
      chunks.length = 0;
    }
    resolve({ body, release });
  };
  // The server's own limit is looked at twice a minute only.
  const timer = setTimeout(() => settle({ kind: 'too_slow' }), budget.bodyTimeoutMs);

  if (!isCounted) settle({ kind: 'overloaded' });
  if (Number(request.headers['content-length'] ?? 0) > budget.maxBodyBytes) settle({ kind: 'too_large' });
  request.on('data', (chunk: Buffer) => {
    if (isSettled) return;
    if (size + chunk.length > budget.maxBodyBytes) return settle({ kind: 'too_large' });
    if (budget.heldBytes + chunk.length > budget.maxHeldBytes) return settle({ kind: 'overloaded' });
    size += chunk.length;
    budget.heldBytes += chunk.length;
    chunks.push(chunk);
  });
  request.on('end', () => settle({ kind: 'whole', bytes: chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks) }));
  request.on('error', () => settle({ kind: 'aborted' }));
  request.on('close', () => settle({ kind: 'aborted' }));
  return promise;
}
