import type { IncomingMessage } from 'node:http';
import { problem, type Reply } from './reply.ts';

/** Inputs are names, filters and notes. */
const MOST_BYTES = 65_536;

type Fields = Readonly<Record<string, unknown>>;

/** The JSON object in a request's body, `{}` without a body; else the reply to send instead. */
export async function readBody(
  request: IncomingMessage,
): Promise<{ fields: Fields } | { reply: Reply }> {
  const bytes = await readBytes(request).catch(() => 'broken' as const);
  if (bytes === 'broken')
    return { reply: problem(400, 'Wrong input', 'The body did not arrive whole.') };
  if (bytes === undefined)
    return { reply: problem(413, 'Too large', `A body has at most ${MOST_BYTES} bytes.`) };
  if (bytes.length === 0) return { fields: {} };
  // Browsers send other types across origins without asking first.
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    return { reply: problem(415, 'Wrong type', 'Send the body as application/json.') };
  const fields = parseObject(bytes);
  return fields === undefined
    ? { reply: problem(400, 'Wrong input', 'The body must be a JSON object.') }
    : { fields };
}

/** Undefined: the body is too large, and its rest is dropped. Rejects if the sender goes away. */
async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The reply needs the connection: whether destroying a request closes it is Node's choice.
  const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    size += chunk.length;
    if (size > MOST_BYTES) break;
    chunks.push(chunk);
  }
  if (size <= MOST_BYTES) return Buffer.concat(chunks);
  // The sender reads the reply only once it has sent all. The server limits the time for that. While
  // somebody iterates over a request, it does not flow.
  request.resume();
  return undefined;
}

function parseObject(bytes: Buffer): Fields | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined;
  } catch {
    return undefined;
  }
}
