import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ConsoleEvents } from '../events.ts';
import { answer, type AnswerOptions } from './answer.ts';
import { send } from './reply.ts';

export interface ListenerOptions extends AnswerOptions {
  readonly events: ConsoleEvents;
  /** While the service stops, it closes each connection after its answer. */
  readonly isStopping: () => boolean;
}

export function createListener(options: ListenerOptions): RequestListener {
  const { events, isStopping } = options;
  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begun = performance.now();
    const answered = await answer(options, request);
    events.answered({ ...answered, ms: performance.now() - begun });
    if (isStopping()) response.setHeader('connection', 'close');
    send(response, answered.reply);
  }
  return (request, response) => void reply(request, response);
}
