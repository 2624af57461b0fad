import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerChanges, type Opened, STREAM_HEADERS } from './changes/answer-changes.ts';
import type { ChangeStreams } from './changes/changes.ts';
import type { ConsoleEvents } from './events.ts';
import type { PageFiles } from './page/page-files.ts';
import { sendFile, sendPage } from './page/send-page.ts';
import { answerSession } from './session/answer-session.ts';
import { answer, type AnswerOptions, nothingThere } from './http/answer.ts';
import { SAFE_HEADERS, send } from './http/reply.ts';
import { type Target, targetOf } from './http/target.ts';
import type { AnswerSignIn } from './sign-in/answer-sign-in.ts';

export interface ListenerOptions extends AnswerOptions {
  readonly events: ConsoleEvents;
  /** While the service stops, it closes each connection after its answer. */
  readonly isStopping: () => boolean;
  readonly streams: ChangeStreams;
  /** Undefined: there is no identity provider. */
  readonly answerSignIn: AnswerSignIn | undefined;
  /** Undefined: the page was not built. */
  readonly page: PageFiles | undefined;
  /** Where a proxy has the console, as `/paddock`; empty: at its root. */
  readonly prefix: string;
}

type Asking = Extract<Target, { to: 'api' | 'session' | 'signIn' | 'changes' }>;

export function createListener(options: ListenerOptions): RequestListener {
  const { events, isStopping, page, prefix } = options;
  async function reply(
    request: IncomingMessage,
    response: ServerResponse,
    target: Asking,
  ): Promise<void> {
    const begun = performance.now();
    const { begin, ...answered } = await answerAt(options, request, target);
    events.answered({ ...answered, ms: performance.now() - begun });
    if (isStopping()) response.setHeader('connection', 'close');
    if (begin === undefined) return send(response, answered.reply);
    response.writeHead(answered.reply.status, { ...SAFE_HEADERS, ...STREAM_HEADERS });
    begin(response);
    if (isStopping()) response.end();
  }
  return (request, response) => {
    const target = targetOf(request, prefix);
    if (target.to === 'page') sendPage(response, page, { pathname: target.pathname, prefix });
    else if (target.to === 'file') sendFile(request, response, page, target.name);
    else void reply(request, response, target);
  };
}

function answerAt(
  options: ListenerOptions,
  request: IncomingMessage,
  target: Asking,
): Promise<Opened> {
  const { answerSignIn } = options;
  switch (target.to) {
    case 'api':
      return answer(options, request, target);
    case 'session':
      return answerSession(options, request);
    case 'signIn':
      if (answerSignIn === undefined) return Promise.resolve({ reply: nothingThere([]) });
      return answerSignIn(request, target.step, target.query);
    case 'changes':
      return answerChanges(options, request, target.query);
    default:
      return target satisfies never;
  }
}
