import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { Readable } from 'node:stream';
import type { Cluster } from './connect.ts';
import { readWholeLog } from './logs.ts';
import { jobInLog, readJobInLog, refusedVersion } from './runner-log.ts';

const VERSION = "Current runner version: '2.337.0'";
const LISTENING = '2026-01-31 10:14:27Z: Listening for Jobs';
const BEGINNING = ['', '√ Connected to GitHub', '', VERSION, LISTENING];
const BEGUN = '2026-01-31 10:26:17Z: Running job: build (linux, 20)';
const OVER = '2026-01-31 10:27:40Z: Job build (linux, 20) completed with result: Succeeded';
const PREFIX = '[TERMINAL 2026-01-31 10:26:17Z INFO Terminal] WRITE LINE: ';

test.each([
  ['it waits', BEGINNING, 'listening'],
  ['it has taken a job', [...BEGINNING, BEGUN], 'job_begun'],
  ['its job is over', [...BEGINNING, BEGUN, OVER], 'job_over'],
  ['its job is over, and another has begun', [...BEGINNING, BEGUN, OVER, BEGUN], 'job_begun'],
  ['only the end is left of the log', [OVER], 'job_over'],
  ['an image prefixes each line', [...BEGINNING, BEGUN].map((line) => PREFIX + line), 'job_begun'],
  ['it does not use a runner’s words', ['will be running jobs', 'Running job soon'], 'silent'],
  ['it did not come to listening', [BEGINNING[1], 'An error occurred: Not configured.'], 'silent'],
  ['nothing', [], 'silent'],
] as const)('%s (E5)', (_what, lines, expected) => {
  expect(jobInLog(lines.join('\n'))).toBe(expected);
});

// As runners wrote them in actions/runner#2246, #3471 and #4613.
test.each([
  ['An error occurred: ', '2.296.2'],
  ['An error occured: ', '2.319.0'],
  ['An error occurred: Error: Forbidden ', '2.336.0'],
  ['[RUNNER 2026-08-06 10:00:01Z ERR  Terminal] WRITE ERROR: An error occurred: ', '2.336.0'],
])('a log that says "%s…" shows the refused version %s (C11)', (begin, version) => {
  const line = `${begin}Runner version v${version} is deprecated and cannot receive messages.`;
  expect(refusedVersion([LISTENING, line, 'Exiting runner...', ''].join('\n'))).toBe(version);
  // After a job began, the log's words may be the job's.
  expect(refusedVersion([LISTENING, BEGUN, line].join('\n'))).toBeUndefined();
  expect(refusedVersion([LISTENING, BEGUN, line, OVER].join('\n'))).toBeUndefined();
});

interface Line {
  readonly at: string;
  readonly text: string;
}

/** How a server differs from a kubelet behind an API server. */
interface Manner {
  readonly ignores?: readonly string[];
  /** Ends its nth answer after so many bytes, as if it were whole. */
  readonly breaksOff?: { readonly nth: number; readonly bytes: number };
  /** Answers with this status. */
  readonly status?: number;
  /** Begins its answer and never ends it. */
  readonly hangs?: boolean;
  /** Writes a line after each answer. */
  readonly neverRests?: boolean;
}

let log: Line[];
let manner: Manner;
let calls: URLSearchParams[];
let cluster: Cluster;

function answerOf(query: URLSearchParams): Buffer {
  const asked = (name: string) =>
    manner.ignores?.includes(name) === true ? null : query.get(name);
  const since = asked('sinceTime');
  // The API server hands whole seconds on.
  const from = since === null ? -Infinity : Math.floor(Date.parse(since) / 1_000) * 1_000;
  const text = log
    .filter(({ at }) => Date.parse(at) >= from)
    .map((line) => `${asked('timestamps') === 'true' ? `${line.at} ` : ''}${line.text}\n`)
    .join('');
  const whole = Buffer.from(text).subarray(0, Number(asked('limitBytes') ?? Infinity));
  const { breaksOff } = manner;
  return breaksOff?.nth === calls.length ? whole.subarray(0, breaksOff.bytes) : whole;
}

const server = useHttpServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://cluster').searchParams;
  calls.push(query);
  response.writeHead(manner.status ?? 200, { 'content-type': 'text/plain' });
  response.write(answerOf(query));
  if (manner.hangs !== true) response.end();
  if (manner.neverRests === true) log.push(...lines('more', { seconds: calls.length }));
});
beforeAll(() => {
  cluster = {
    server: server.url,
    requestTimeoutMs: 120_000,
    send: async ({ path, signal }) => {
      const call = requestHttp(new URL(path, server.url), { signal }).end();
      const [answer] = await once(call, 'response');
      return answer;
    },
    close: () => undefined,
  };
});
beforeEach(() => {
  log = [];
  manner = {};
  calls = [];
});

const START = Date.UTC(2026, 0, 31, 10);
/** Lines, each a second later than the one before unless `apartMs` says otherwise. */
const lines = (texts: string | readonly string[], { seconds = 0, apartMs = 1_000 } = {}): Line[] =>
  [texts].flat().map((text, nth) => ({
    at: new Date(START + seconds * 1_000 + nth * apartMs).toISOString().replace('Z', '000123Z'),
    text,
  }));
const noise = (count: number, bytes = 60) => Array.from({ length: count }, () => 'x'.repeat(bytes));
const PAGE = 4 * 1024 * 1024;
const POD = { namespace: 'runners', name: 'pdk-1' };

async function readLines() {
  const taken: string[] = [];
  const take = (line: string) => void taken.push(line);
  const ofRunner = { ...POD, container: 'runner' };
  const read = await readWholeLog(cluster, ofRunner, take, AbortSignal.timeout(60_000));
  return { read, taken };
}
const job = (startedAt = new Date(START)) =>
  readJobInLog(cluster, { ...POD, startedAt }, AbortSignal.timeout(60_000));

describe('a whole log is read, in pages (E5, P2)', () => {
  test('a short one with two calls: the second brings nothing new', async () => {
    log = lines([VERSION, LISTENING]);
    expect(await readLines()).toEqual({ read: 'end', taken: [VERSION, LISTENING, LISTENING] });
    expect(calls.map((call) => call.get('sinceTime'))).toEqual([null, log[1]?.at]);
  });

  test.each<[string, Manner]>([
    ['of a kubelet', {}],
    ['of a server that ignores `sinceTime`', { ignores: ['sinceTime'] }],
    ['of a server that ignores `limitBytes`', { ignores: ['limitBytes'] }],
    ['of a server without timestamps', { ignores: ['timestamps'] }],
    ['of a server that ignores all', { ignores: ['timestamps', 'sinceTime', 'limitBytes'] }],
  ])('each line of several pages %s', async (_whose, given) => {
    manner = given;
    const texts = Array.from({ length: 1_000 }, (_, nth) => `${nth} ${'é'.repeat(5_000)}`);
    log = lines(texts);
    const { read, taken } = await readLines();
    expect(read).toBe('end');
    const numbers = new Set(taken.map((line) => line.split(' ')[0]));
    expect(texts.every((_, nth) => numbers.has(String(nth)))).toBe(true);
  });

  test('more than a page within one second', async () => {
    log = lines([...noise(90_000, 80), BEGUN], { apartMs: 0 });
    expect(await job()).toBe('job_begun');
  });

  test('one line that is longer than a page, and a job after it', async () => {
    log = lines([LISTENING, 'é'.repeat(10 * 1024 * 1024), BEGUN]);
    expect(await job()).toBe('job_begun');
  });

  test('the runner’s words within a line that is taken in pieces, wherever its bytes are cut', async () => {
    const [line] = lines(`${'x'.repeat(70_000)}${BEGUN}${'x'.repeat(70_000)}`);
    const text = Buffer.from(`${line?.at} ${line?.text}\n`);
    const at = text.indexOf('Running job');
    for (let cut = at - 4; cut < at + 15; cut += 1) {
      const pieces = [text.subarray(0, cut), text.subarray(cut)];
      const head = { statusCode: 200, headers: {}, headersDistinct: {} };
      const inPieces: Cluster = {
        ...cluster,
        send: () =>
          Promise.resolve(Object.assign(Readable.from(pieces), head) as unknown as IncomingMessage),
      };
      const signal = AbortSignal.timeout(60_000);
      expect([cut, await readJobInLog(inPieces, POD, signal)]).toEqual([cut, 'job_begun']);
    }
  });

  test.each([1, 2])('although answer %d breaks off without an error', async (nth) => {
    const before = [VERSION, LISTENING, ...noise(90_000, 60)];
    log = lines([...before, BEGUN]);
    manner = { breaksOff: { nth, bytes: 200 } };
    expect(await job()).toBe('job_begun');
  });

  test.each([0, 10, 40])('although the first answer breaks off after %d bytes', async (bytes) => {
    log = lines([VERSION, LISTENING, BEGUN]);
    manner = { breaksOff: { nth: 1, bytes } };
    expect(await job()).toBe(bytes === 0 ? 'silent' : 'job_begun');
  });

  test('of a node whose clock was set back', async () => {
    log = [...lines([VERSION, LISTENING], { seconds: 3_600 }), ...lines(BEGUN)];
    expect(await job()).toBe('job_begun');
  });

  test('of a runner that never rests: it comes to an end', async () => {
    log = lines([VERSION, LISTENING]);
    manner = { neverRests: true };
    expect(await job()).toBe('listening');
    expect(calls.length).toBeLessThan(10);
  });

  test('bytes that are no text, and characters that PostgreSQL cannot hold, hide no end of a page', async () => {
    log = lines([...Array.from({ length: 10 }, () => '\0'.repeat(PAGE / 10)), BEGUN]);
    expect(await job()).toBe('job_begun');
  });

  test('a line that a job wrote to keep us busy costs no time', async () => {
    log = lines([LISTENING, ...Array.from({ length: 20 }, () => ': Job '.repeat(10_000))]);
    expect(await job()).toBe('listening');
  });
});

test.each<[string, Line[], string]>([
  ['idle, for thousands of lines', lines([VERSION, LISTENING, ...noise(3_000)]), 'listening'],
  ['a job', lines([VERSION, LISTENING, BEGUN]), 'job_begun'],
  ['a job that is over', lines([VERSION, LISTENING, BEGUN, OVER]), 'job_over'],
  ['no line of a runner', lines(['hello']), 'silent'],
  ['its beginning was rotated away', lines(noise(10), { seconds: 3_600 }), 'cut'],
  ['the same, and it shows a job', lines([...noise(10), BEGUN], { seconds: 3_600 }), 'job_begun'],
  ['the same, and it shows the end of one', lines([OVER], { seconds: 3_600 }), 'job_over'],
  ['the same, and what looks like a wait', lines([LISTENING], { seconds: 3_600 }), 'cut'],
  ['an image silent for long at first', lines([VERSION, LISTENING], { seconds: 600 }), 'listening'],
  ['older than its container, by its node', lines([LISTENING], { seconds: -86_400 }), 'listening'],
])('what a log says: %s (E5)', async (_what, given, expected) => {
  log = given;
  expect(await job()).toBe(expected);
});

test.each<[string, readonly string[], string]>([
  ['proves nothing', [VERSION, LISTENING], 'cut'],
  ['shows its job', [VERSION, LISTENING, BEGUN], 'job_begun'],
  ['may show another job than one that is over', [VERSION, BEGUN, OVER], 'job_begun'],
])('a log whose end does not come %s (E5)', async (_what, texts, expected) => {
  log = lines(texts);
  manner = { hangs: true };
  const hasty = { ...POD, startedAt: new Date(START), mostMs: 500 };
  expect(await readJobInLog(cluster, hasty, AbortSignal.timeout(60_000))).toBe(expected);
});

test.each([400, 403, 404, 500, 503])('a log that is answered %d cannot be read', async (status) => {
  manner = { status };
  expect(await job()).toMatchObject({ unreadable: { status } });
});
