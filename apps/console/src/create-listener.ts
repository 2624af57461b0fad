import type { Endpoint } from '@paddock/api/endpoint';
import { beginSession, endSession } from '@paddock/api/sessions/sessions';
import { createApp } from '@paddock/runtime/http-server';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { answerChanges, type ChangeStreams } from './changes.ts';
import type { ConsoleEvents } from './events.ts';
import {
  answer,
  type Answered,
  answerNothing,
  type AnswerOptions,
  nothingThere,
  STRANGER,
  withBearer,
} from './http/answer.ts';
import { problem, send } from './http/reply.ts';
import { fileAt, pageAt, type PageFiles } from './page.ts';
import { cookieWith, cookieWithout } from './sign-in/cookies.ts';
import type { AnswerSignIn, SignInStep } from './sign-in/oidc.ts';

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

export function createListener(options: ListenerOptions): Express {
  const { answerSignIn, events, isStopping, page, prefix } = options;
  /** Sends what `answerTo` answers. Never rejects, as `answerTo` does not. */
  const by =
    (answerTo: (request: Request, response: Response) => Promise<Answered>): RequestHandler =>
    async (request, response) => {
      const begun = performance.now();
      const answered = await answerTo(request, response);
      events.answered({ ...answered, ms: performance.now() - begun });
      if (isStopping()) response.set('connection', 'close');
      send(response, answered.reply);
      if (isStopping()) response.end();
    };
  const nothing = (methods: readonly string[]) =>
    by((request) => answerNothing(options, request, nothingThere(methods)));
  const signIn = (step: SignInStep) =>
    answerSignIn === undefined ? nothing([]) : by((request) => answerSignIn(request, step));

  // Paths are taken as they are. A word in a path comes before a field at its place.
  const api = createRouter();
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

  const site = createRouter();
  site.use(api);
  const session = by((request) => answerSession(options, request));
  site.all('/session', session);
  site.all('/sign-in/begin', signIn('begin'));
  site.all('/sign-in/callback', signIn('callback'));
  const changes = by((request) => answerChanges(options, request));
  site.all('/changes', changes);
  site.get(/^\/assets\//, (request, response) => send(response, fileAt(page, request)));
  // Relative, so that a proxy may add a prefix.
  site.get(/^\/history(\.json|\.csv)?$/, ({ url }, response) =>
    send(response, {
      status: 302,
      headers: { location: url.replace('/history', 'jobs') },
      text: '',
    }),
  );
  site.get(/^/, (request, response, next) => {
    const list = listAt(request);
    if (list === undefined) return send(response, pageAt(page, request, prefix));
    request.url = list;
    api(request, response, next);
  });
  site.use(nothing([]));
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

/** Refuses unknown fields: a list without a misspelt filter would be another list. */
const strict = (endpoint: Endpoint): Endpoint => ({ ...endpoint, input: endpoint.input.strict() });

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

const createRouter = () => express.Router({ caseSensitive: true, strict: true });

const NO_PATH = problem(400, 'Wrong input', 'The path cannot be decoded.');

/**
 * The address of the answer in the API that a view shows. A page and its answer share an address:
 * who asks for JSON, by `.json` or by `Accept`, gets the answer; by `.csv`, its rows for a sheet.
 * Undefined: everyone else, who gets the page.
 */
function listAt(request: Request): string | undefined {
  const { path, url } = request;
  const isJson = /\.(json|csv)$/.test(path);
  // Who takes anything is a browser, or a person with a tool who wants to see the page.
  if (!isJson && request.accepts('text/html', 'application/json') !== 'application/json')
    return undefined;
  const view = isJson ? path.replace(/\.\w+$/, '') : path;
  const [pattern, list] = ELSEWHERE.find(([one]) => one.test(view)) ?? [/$/, ''];
  return `/api/v1${view.replace(pattern, list)}${url.slice(path.length)}`;
}

/** Views whose answer has another path in the API. */
const ELSEWHERE: readonly (readonly [view: RegExp, path: string])[] = [
  [/^\/?$/, '/pools'],
  [/^\/runs\/[^/]+$/, '$&/why'],
];

/**
 * Answers who has signed in (GET), begins a session of the token in the header `Authorization`
 * (POST), or ends the session of the cookie (DELETE). A narrowed token cannot sign in: the page
 * would be empty. Never rejects.
 */
const answerSession = (options: AnswerOptions, request: Request): Promise<Answered> => {
  const { method, headers } = request;
  return withBearer(
    options,
    request,
    async ({ bearer, credential: { ownerId, session } }) => {
      const { person, access, narrowedTo, token } = bearer;
      if (narrowedTo !== null) return { reply: STRANGER };
      const said = (isSession: boolean, cookie?: string): Answered => ({
        reply: {
          status: 200,
          ...(cookie !== undefined && { headers: { 'set-cookie': cookie } }),
          text: `${JSON.stringify({ person, access, isSession })}\n`,
        },
      });
      if (method === 'GET' || method === 'HEAD') return said(session !== undefined);
      if (method === 'POST' && session === undefined && token !== undefined)
        return said(true, cookieWith(await beginSession(options.db, ownerId), headers.origin));
      if (method === 'DELETE' && session !== undefined) {
        await endSession(options.db, session);
        return said(false, cookieWithout(headers.origin));
      }
      return { reply: nothingThere(['GET', 'POST', 'DELETE']) };
    },
    method === 'POST',
  );
};
