import type { Endpoint } from '@paddock/api/endpoint';
import { createApp } from '@paddock/runtime/http-server';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { answerChanges, type Opened, STREAM_HEADERS } from './changes/changes.ts';
import type { ChangeStreams } from './changes/changes.ts';
import type { ConsoleEvents } from './events.ts';
import { answer, answerNothing, type AnswerOptions, nothingThere } from './http/answer.ts';
import { listAt } from './http/list-at.ts';
import { problem, SAFE_HEADERS, send } from './http/reply.ts';
import type { PageFiles } from './page/page-files.ts';
import { fileAt, pageAt } from './page/page-reply.ts';
import { answerSession } from './session/answer-session.ts';
import type { AnswerSignIn, SignInStep } from './sign-in/answer-sign-in.ts';

export interface ListenerOptions extends AnswerOptions {
  readonly endpoints: readonly Endpoint[];
  readonly events: Pick<ConsoleEvents, 'answered'>;
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

/** Sends what `answerTo` answers. Never rejects, as `answerTo` does not. */
type By = (answerTo: (request: Request, response: Response) => Promise<Opened>) => RequestHandler;

/** Routes the API, the page, and what the page needs beside the API. */
export function createListener(options: ListenerOptions): Express {
  const { answerSignIn, events, isStopping, page, prefix } = options;
  const by: By = (answerTo) => async (request, response) => {
    const begun = performance.now();
    const { begin, ...answered } = await answerTo(request, response);
    events.answered({ ...answered, ms: performance.now() - begun });
    if (isStopping()) response.set('connection', 'close');
    if (begin === undefined) return send(response, answered.reply);
    response.writeHead(answered.reply.status, { ...SAFE_HEADERS, ...STREAM_HEADERS });
    begin(response);
    if (isStopping()) response.end();
  };
  const signIn = (step: SignInStep) =>
    by((request) =>
      answerSignIn === undefined
        ? Promise.resolve({ reply: nothingThere([]) })
        : answerSignIn(request, step, new URL(request.url, 'http://console').searchParams),
    );

  const site = createRouter();
  const api = createApi(options, by);
  site.use(api);
  site.all(
    '/session',
    by((request) => answerSession(options, request)),
  );
  site.all('/sign-in/begin', signIn('begin'));
  site.all('/sign-in/callback', signIn('callback'));
  site.all(
    '/changes',
    by((request) => answerChanges(options, request)),
  );
  site.get(/^\/assets\//, (request, response) => send(response, fileAt(page, request)));
  site.get(/^/, (request, response, next) => {
    const list = listAt(request);
    if (list === undefined) return send(response, pageAt(page, request, prefix));
    request.url = list;
    api(request, response, next);
  });
  site.use(by((request) => answerNothing(options, request, nothingThere([]))));
  const undecoded: ErrorRequestHandler = (error, request, response, next) =>
    error instanceof URIError
      ? by(() => answerNothing(options, request, NO_PATH))(request, response, next)
      : next(error);
  site.use(undecoded);

  const app = createApp();
  if (prefix !== '') app.use(prefix, site);
  app.use(site);
  return app;
}

/** Its endpoints, in their paths as they are. A word in a path comes before a field at its place. */
function createApi(options: ListenerOptions, by: By): Router {
  const api = createRouter();
  const nothing = (methods: readonly string[]) =>
    by((request) => answerNothing(options, request, nothingThere(methods)));
  // A brace sorts after all characters of a word.
  const sorted = options.endpoints.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const [path, endpoints] of Map.groupBy(sorted, (endpoint) => endpoint.path)) {
    const route = api.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of endpoints.map(strict))
      route[METHODS[endpoint.method]](
        by((request, response) => answer(options, endpoint, request, response)),
      );
    route.all(nothing(endpoints.map(({ method }) => method)));
  }
  api.all(/^\/api\//, nothing([]));
  return api;
}

/** Refuses unknown fields: a list without a misspelt filter would be another list. */
const strict = (endpoint: Endpoint): Endpoint => ({ ...endpoint, input: endpoint.input.strict() });

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

const createRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

const NO_PATH = problem(400, 'Wrong input', 'The path cannot be decoded.');
