import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { runCommand } from './run-command.ts';
import { readPlace } from './settings.ts';

const TOKEN = 'paddock_0123456789abcdef_secret';

interface Request {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

const PROBLEM = { 'content-type': 'application/problem+json' };
const problem = (status: number, detail: string, more = {}) =>
  [
    status,
    PROBLEM,
    JSON.stringify({ type: 'about:blank', title: 'No', status, detail, ...more }),
  ] as const;

describe('the terminal over the API (D12)', () => {
  let answer: readonly [status: number, headers: Record<string, string>, body: string];
  let requests: Request[] = [];
  const server = useHttpServer((request, response) => void reply(request, response));
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = request;
    requests.push({ method, url, authorization: headers.authorization, body: await text(request) });
    response.writeHead(answer[0], answer[1]).end(answer[2]);
  };
  const base = () => `${server.url}/fleet`;
  const paddock = (words: readonly string[], environment = {}) => {
    requests = [];
    return runCommand(words, { PADDOCK_URL: base(), PADDOCK_TOKEN: `${TOKEN}\n`, ...environment });
  };

  test('asks below the path prefix, with the token in the header alone', async () => {
    answer = [200, {}, '{"items":[],"next":null}'];
    const { code, stdout } = await paddock(['jobs', '--pool', 'a&b'], {
      PADDOCK_URL: `${base()}/`,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'There is no such job.\n' });
    expect(requests).toEqual([
      {
        method: 'GET',
        url: '/fleet/api/v1/jobs?pool=a%26b&limit=30',
        authorization: `Bearer ${TOKEN}`,
        body: '',
      },
    ]);
  });

  test('a name stays one part of the path, and what is no part of it travels in the body', async () => {
    answer = problem(404, 'There is no worker of this name.');
    expect(await paddock(['drain', 'worker', 'a/b?c', '--note', 'old'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no worker of this name.\n',
    });
    expect(requests).toMatchObject([
      { method: 'POST', url: '/fleet/api/v1/drain/worker/a%2Fb%3Fc', body: '{"note":"old"}' },
    ]);
    const { stderr } = await paddock(['drain', 'worker', '..']);
    expect(stderr).toBe('The API cannot be asked for the name "..".\n');
    expect(requests).toEqual([]);
  });

  test.each([
    [
      problem(401, 'Send a token.'),
      'GET URL/api/v1/jobs was refused: PADDOCK_TOKEN is unknown there',
    ],
    [
      problem(403, 'This token may only read.'),
      'may only read. PADDOCK_TOKEN needs the access `operate`',
    ],
    [problem(503, 'Busy: later.'), 'GET URL/api/v1/jobs was answered with 503: Busy: later.'],
    [
      problem(400, 'Mend it.', { errors: [{ place: 'query.x', message: 'Is \u001B[2Junknown' }] }),
      'Mend it.\n  query.x: Is ·[2Junknown\n',
    ],
    [
      [404, {}, '<html>'],
      'was answered with 404, and not by a console. Is PADDOCK_URL its address',
    ],
    [
      [302, { location: 'https://sign.in/' }, ''],
      'leads on to https://sign.in/: the token is not sent',
    ],
    [[200, {}, '{"items":[{}],"next":null}'], 'with something else than this version'],
  ] as const)('says what was asked in vain, and what to do: %j', async (given, sentence) => {
    answer = given;
    const { code, stdout, stderr } = await paddock(['jobs']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replaceAll(base(), 'URL')).toContain(sentence);
    expect(stderr).not.toContain(TOKEN);
  });

  test('a console that cannot be reached is named, and no stack is printed', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await once(closed.close(), 'close');
    const url = `http://127.0.0.1:${port}`;
    expect(await paddock(['pools'], { PADDOCK_URL: url })).toEqual({
      code: 1,
      stdout: '',
      stderr: `GET ${url}/api/v1/pools: nothing listens there. Is PADDOCK_URL right, and is the console running?\n`,
    });
    const { stderr } = await paddock(['pools'], { PADDOCK_URL: 'https://paddock.invalid/' });
    expect(stderr).toMatch(
      /^GET https:\/\/paddock\.invalid\/api\/v1\/pools: .* Is PADDOCK_URL right/,
    );
  });

  test.each([
    [{ PADDOCK_URL: '' }, 'Neither DATABASE_URL nor PADDOCK_URL is set'],
    [{ DATABASE_URL: 'postgresql://u:hunter2@db/p' }, 'DATABASE_URL and PADDOCK_URL are both set'],
    [{ PADDOCK_TOKEN: 'hunter2\nx' }, 'PADDOCK_TOKEN must be one word'],
    [{ PADDOCK_URL: 'http://paddock.example.com' }, 'PADDOCK_URL must begin with https://'],
    [{ PADDOCK_URL: 'https://u:hunter2@paddock.example.com' }, 'neither a user nor a query'],
    [{ PADDOCK_URL: 'postgresql://u:hunter2@db/p' }, 'PADDOCK_URL must be an address such as'],
    [{ PADDOCK_URL: 'https://paddock.example.com/api/v1/' }, 'without /api/v1'],
  ])('%j asks nobody', async (environment, sentence) => {
    const failure = paddock(['pools'], environment);
    await expect(failure).rejects.toThrow(sentence);
    await expect(failure).rejects.not.toThrow('hunter2');
  });

  test('http:// to another machine is asked for with PADDOCK_ALLOW_PLAIN_HTTP', async () => {
    const environment = { PADDOCK_URL: 'http://paddock.invalid', PADDOCK_ALLOW_PLAIN_HTTP: 'true' };
    expect((await paddock(['pools'], environment)).stderr).toMatch(
      /^GET http:\/\/paddock\.invalid/,
    );
  });
});

test('PGSSLMODE and PGPASSFILE count for the terminal as for the services (A11, D12)', () => {
  const DATABASE_URL = 'postgresql://ada@db.test/paddock';
  const libpq = { PGSSLMODE: 'require', PGPASSFILE: '/home/ada/.pgpass' };
  expect(readPlace({ DATABASE_URL, ...libpq })).toEqual({
    database: {
      url: `${DATABASE_URL}?sslmode=require&passfile=%2Fhome%2Fada%2F.pgpass`,
      schema: 'paddock',
    },
  });
});
