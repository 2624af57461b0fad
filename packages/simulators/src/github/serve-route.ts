import type { Request, Response, Router } from 'express';
import { authenticateApp, authenticateInstallation } from './authenticate.ts';
import { takeFault } from '../faults.ts';
import { bucketOf, callerOf, noteAnswer, noteCall, rateHeaders } from './rate-limits.ts';
import { Refusal } from './refusal.ts';
import type { Answer, Call, Route } from './route.ts';
import { randomText } from '../random.ts';
import { type GitHubFault, type Payload, type World, strike } from './world.ts';

/**
 * Puts an endpoint on the router: counted, able to fail on demand, authenticated, within its rate
 * limit.
 */
export function serveRoute(router: Router, world: World, route: Route): void {
  router[route.method](route.path, async (request, response) => {
    world.calls.set(route.operation, (world.calls.get(route.operation) ?? 0) + 1);
    response.set('date', new Date(world.now()).toUTCString());
    const { operation, resource = 'core' } = route;
    const made = { caller: callerOf(world, request.headers.authorization), resource, operation };
    noteCall(world, made);
    const answer = (given: Answer): void => {
      noteAnswer(world, made, given);
      send(response, given);
    };
    const { method, path, query } = request;
    const page = Number(query['page'] ?? 1);
    const fault = takeFault(
      world.faults,
      { method, path },
      (one) => (one.caller ?? made.caller) === made.caller && (one.page ?? page) === page,
    );
    if (fault === undefined) {
      answer(await answerTo(world, route, request));
      return;
    }
    strike(world, 'call_failed');
    if (fault.status !== undefined) strike(world, `call_failed_${fault.status}`);
    if (fault.emptied === true) {
      answer(emptied(await answerTo(world, route, request)));
      return;
    }
    if (fault.afterCommit === true) await answerTo(world, route, request);
    fail(response, fault, answer);
  });
}

function fail(response: Response, fault: GitHubFault, answer: (given: Answer) => void): void {
  if (fault.hang === true) return;
  if (fault.status === undefined) {
    response.socket?.destroy();
    return;
  }
  answer({
    status: fault.status,
    body: fault.body ?? { message: 'Failed on demand' },
    headers: fault.headers ?? {},
  });
}

/** The ETag is that of the whole answer. */
function emptied({ status, headers: { etag: _etag, ...headers } = {}, body }: Answer): Answer {
  if (!isObject(body)) return { status, headers, body };
  const lists = Object.entries(body).filter(([, value]) => Array.isArray(value));
  return {
    status,
    headers,
    body: { ...body, ...Object.fromEntries(lists.map(([name]) => [name, []])) },
  };
}

async function answerTo(world: World, route: Route, request: Request): Promise<Answer> {
  const call = callOf(world, request);
  const { authorization } = request.headers;
  try {
    if (route.caller === 'app') {
      const app = await authenticateApp(world, authorization);
      return withinLimit(world, `app ${app.appId}`, route, () => route.answer({ ...call, app }));
    }
    const installation = authenticateInstallation(world, authorization);
    return withinLimit(world, `installation ${installation.id}`, route, () =>
      route.answer({ ...call, installation }),
    );
  } catch (error) {
    return refused(error);
  }
}

/** The answer of a Refusal. */
function refused(error: unknown): Answer {
  if (!(error instanceof Refusal)) throw error;
  const { status, message, headers } = error;
  const documentation_url = 'https://docs.github.com/rest';
  return { status, headers, body: { message, documentation_url, status: String(status) } };
}

/** Every answer names the rest of the budget, refusals too. An answer of 304 costs nothing. */
function withinLimit(world: World, caller: string, route: Route, act: () => Answer): Answer {
  const { resource = 'core', isFree = false } = route;
  const bucket = bucketOf(world, caller, resource);
  let answer: Answer;
  try {
    if (bucket.used >= bucket.limit && !isFree)
      throw new Refusal(403, `API rate limit exceeded for ${caller}.`);
    answer = act();
  } catch (error) {
    answer = refused(error);
  }
  if (answer.status !== 304 && !isFree) bucket.used += 1;
  return { ...answer, headers: { ...rateHeaders(bucket, resource), ...answer.headers } };
}

function callOf(world: World, request: Request): Call {
  return {
    world,
    params: Object.fromEntries(
      Object.entries(request.params).map(([name, value]) => [name, String(value)]),
    ),
    query: new URL(request.originalUrl, 'http://localhost').searchParams,
    body: isObject(request.body) ? request.body : {},
    headers: request.headers,
    path: `${request.baseUrl}${request.path}`,
    method: request.method,
  };
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function send(response: Response, { status, body, headers }: Answer): void {
  response.status(status).set({
    ...headers,
    'x-github-request-id': randomText(9),
    'x-github-media-type': 'github.v3; format=json',
  });
  if (body === undefined) response.end();
  else response.json(body);
}
