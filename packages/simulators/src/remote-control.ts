import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { post } from './post.ts';

/** The functions of a simulator as another process has them. */
export type Remote<C> = {
  readonly [K in keyof C]: C[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export const CONTROL_PATH = '/_sim/';

/** Controls a simulator in another process. Rejects with the simulator's message if it refuses. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the functions cross a process
export function connectControl<R extends object>(url: string): R {
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify(args);
    const { status, text } = await post(`${url}${CONTROL_PATH}${name}`, { body });
    if (status !== 200)
      throw new Error(`The simulator at ${url} answered ${status} to ${name}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return new Proxy({} as R, {
    get: (_none, name) =>
      name === 'then' ? undefined : (...args: unknown[]) => call(String(name), args),
  });
}

/**
 * Serves `POST /_sim/NAME` for `connectControl`: the body lists the arguments of the function of
 * that name, the answer is its result as JSON.
 */
export async function serveControl(
  control: object,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, act] = Object.entries(control).find(([known]) => known === name) ?? [];
  try {
    const result: unknown = await (act as (...args: unknown[]) => unknown)(
      ...((await json(request)) as unknown[]),
    );
    response.end(JSON.stringify(result));
  } catch (error) {
    const { status = 500, message } = error as { status?: number; message: string };
    response.writeHead(status).end(message);
  }
}
