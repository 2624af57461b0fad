import { describe, expect, test } from '@jest/globals';
import { connectionProblem } from './connection-problem.ts';
import { NONE_UNCONFIRMED, judgeAbsence } from './judge-absence.ts';
import { type OverdueRunner, judgeWorker } from './why-stop.ts';
import { isRunnerOf, readRunnerName, isWorkerName, workerName } from './worker-name.ts';
import {
  JOBLESS_REASONS,
  STOP_REASONS,
  type StopReason,
  describeStop,
  isStartFailure,
} from './stop-reasons.ts';

/** Online, past both deadlines, and no job waits. */
const OVERDUE: OverdueRunner = {
  runner: 'online',
  hadJob: false,
  wasOnline: true,
  offlineForMs: null,
  isRegistrationDue: true,
  isIdleDue: true,
  idleDeadlineMs: 600_000,
  waitingForMs: null,
};

/** What a row of the table says of the runner beside GitHub’s word. */
const WORDS: Readonly<Record<string, Partial<OverdueRunner>>> = {
  'had its job': { hadJob: true },
  'never online': { wasOnline: false },
  'not long idle': { isIdleDue: false },
  'offline for a moment': { offlineForMs: 0 },
  'offline for long': { offlineForMs: 600_000 },
  'a job waits': { waitingForMs: 599_000 },
  'a job waits as long': { waitingForMs: 600_000 },
};

test.each([
  'online → idle',
  'online, not long idle → stays',
  // It may be given to it.
  'online, a job waits → stays',
  'online, a job waits as long → not_assigned',
  'busy → stays',
  'busy, never online → stays',
  'unknown, had its job, not long idle → over',
  'busy, had its job → stays',
  'offline, never online, offline for a moment → not_registered',
  'offline, offline for a moment → stays',
  'offline, offline for long → offline',
  'unknown → registration_gone',
  // It may have just ended its job.
  'unknown, not long idle → stays',
])('%s (E5)', (row) => {
  const [words = '', expected] = row.split(' → ');
  const [runner, ...given] = words.split(', ');
  const known = given.map((word) => WORDS[word]);
  expect(known).not.toContain(undefined);
  const judged: OverdueRunner = Object.assign({}, OVERDUE, { runner }, ...known);
  expect(judgeWorker(judged, { offlineMs: 600_000 }) ?? 'stays').toBe(expected);
});

const names = (count: number) => Array.from({ length: count }, (_, index) => `pod-${index}`);
const CONFIRM_AFTER_MS = 30_000;

const judge = (known: number, there: number, nowMs = 0, unconfirmed = NONE_UNCONFIRMED) =>
  judgeAbsence(
    { known: names(known), present: new Set(names(there)), unconfirmed, nowMs },
    CONFIRM_AFTER_MS,
  );
const counts = ({ gone, unconfirmed }: ReturnType<typeof judge>) => [gone.length, unconfirmed.size];

describe('pods that a list lacks (C8, P1, P6)', () => {
  test.each([
    ['half of many', 3_000, 1_500, 1_500, 0],
    ['all of few', 9, 0, 9, 0],
    ['all of ten', 10, 0, 0, 10],
  ])('%s', (_what, known, there, gone, unconfirmed) => {
    expect(counts(judge(known, there))).toEqual([gone, unconfirmed]);
  });

  test('are gone once a list lacks them that was read long enough after the first', () => {
    const first = judge(100, 0, 1_000);
    const soon = judge(100, 0, 30_999, first.unconfirmed);
    expect(counts(soon)).toEqual([0, 100]);
    expect(counts(judge(100, 0, 31_000, soon.unconfirmed))).toEqual([100, 0]);
  });

  test('are unconfirmed each from when it was first missed', () => {
    const first = judge(100, 0, 1_000);
    expect(counts(judge(150, 0, 31_000, first.unconfirmed))).toEqual([100, 50]);
  });

  test('are unconfirmed no more after a list that has them', () => {
    const first = judge(100, 0, 1_000);
    expect(counts(judge(100, 99, 2_000, first.unconfirmed))).toEqual([1, 0]);
  });
});

/** What the sentence says, and lines that make it, from the runner's own source and from public reports. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  'a clock': [
    'The local machine’s clock may be out of sync with the server time by more than five minutes. Please sync your clock',
    'System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: NotTimeValid',
  ],
  'a proxy': [
    "2026-03-02 08:00:11Z: Runner connect error: The proxy tunnel request to proxy 'http://proxy.corp:3128/' failed with status code '407'.\". Retrying until reconnected.",
    'HTTP/1.1 407 Proxy Authentication Required',
    "System.NotSupportedException: Only the 'http', 'https', 'socks4', 'socks4a' and 'socks5' schemes are allowed for proxies.",
  ],
  'a certificate': [
    '2026-03-02 08:00:11Z: Runner connect error: The SSL connection could not be established, see inner exception.. Retrying until reconnected.',
    ' ---> System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: UntrustedRoot',
    'The remote certificate is invalid because of errors in the certificate chain: PartialChain',
    'Error: self-signed certificate in certificate chain',
  ],
  'a name': [
    '2022-04-04 03:08:45Z: Runner connect error: Resource temporarily unavailable (pipelines.actions.githubusercontent.com:443). Retrying until reconnected.',
    'System.Net.Http.HttpRequestException: Name or service not known (api.github.com:443)',
    'Temporary failure in name resolution (broker.actions.githubusercontent.com:443)',
    'curl: (6) Could not resolve host: github.com',
  ],
  'a version': [
    'An error occurred: Runner version v2.291.1 is deprecated and cannot receive messages.',
    'An error occurred: Error: Forbidden Runner version v2.336.0 is deprecated and cannot receive messages.',
  ],
  'a registration': [
    'Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently.',
    'GitHub.Services.OAuth.VssOAuthTokenRequestException: Registration c9a9807b-9ff9-410e-8cb5-f089835c4f34 was not found.',
    "Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration' (Request Id: 0400:1)",
  ],
  'a GitHub that refuses': [
    "Http response code: Forbidden from 'POST https://api.github.com/actions/runner-registration' (Request Id: 0400:1)",
    'Response status code does not indicate success: 403 (Forbidden).',
  ],
  'another runner': [
    'A session for this runner already exists.',
    '2026-07-23 11:02:03Z: Runner connect error: Error: Conflict. Retrying until reconnected.',
  ],
  'another architecture': ['exec /home/runner/run.sh: exec format error'],
  libraries: [
    "Process terminated. Couldn't find a valid ICU package installed on the system.",
    'Execute sudo ./bin/installdependencies.sh to install any missing Dotnet Core 6.0 dependencies.',
    "./bin/Runner.Listener: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by ./bin/Runner.Listener)",
    'Failed to create CoreCLR, HRESULT: 0x80004005',
  ],
  'an image without the runner': [
    '/bin/sh: 1: /home/runner/run.sh: not found',
    'exec: "/home/runner/run.sh": stat /home/runner/run.sh: no such file or directory',
    '/home/runner/run-helper.sh: line 36: /home/runner/bin/Runner.Listener: No such file or directory',
  ],
  'without its registration': [
    'Runner is not configured.',
    'Not configured. Run config.(sh/cmd) to configure the runner.',
  ],
  Docker: [
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  ],
  rights: [
    "Unhandled exception. System.UnauthorizedAccessException: Access to the path '/home/runner/_diag' is denied.",
    "touch: cannot touch '.env': Permission denied",
    'Must not run interactively with sudo',
  ],
  'a connection': [
    'Connection refused (api.github.com:443)',
    'The request was canceled due to the configured HttpClient.Timeout of 100 seconds elapsing.',
    ' ---> System.IO.IOException: The response ended prematurely.',
  ],
};

describe('why GitHub does not see a runner, by the runner’s own log (P5)', () => {
  const rows = Object.entries(LINES).flatMap(([told, lines]) => lines.map((line) => [told, line]));
  test.each(rows)('%s: %s', (told, line) => {
    const sentence = connectionProblem(`√ Connected to GitHub\n${line}\nRetrying in 30 seconds\n`);
    expect(sentence).toMatch(new RegExp(`^Its log shows .*${told}`));
    expect(sentence).toContain(line.trim().slice(0, 190));
  });

  test('a log without any of it says nothing', () => {
    expect(connectionProblem('')).toBeUndefined();
    expect(
      connectionProblem(
        "Current runner version: '2.336.0'\n2026-08-17 14:15:44Z: Listening for Jobs\n",
      ),
    ).toBeUndefined();
  });

  test('ignores problems from before the runner reached GitHub', () => {
    const first =
      '2026-08-17 14:15:40Z: Runner connect error: Name or service not known (api.github.com:443). Retrying until reconnected.';
    expect(
      connectionProblem(
        `${first}\n2026-08-17 14:16:11Z: Runner reconnected.\n2026-08-17 14:16:12Z: Listening for Jobs`,
      ),
    ).toBeUndefined();
    expect(connectionProblem(`2026-08-17 14:15:12Z: Listening for Jobs\n${first}`)).toContain(
      'a name that cannot be resolved',
    );
  });

  test('the last of several counts, and only the beginning of a long line is quoted', () => {
    const log = `Name or service not known (proxy.corp:3128)\nConnection refused (proxy.corp:3128) ${'x'.repeat(1_000)}\n`;
    expect(connectionProblem(log)).toContain(
      'a connection that does not come about ("Connection refused (proxy.corp:3128) xxx',
    );
    expect(connectionProblem(log)?.length).toBeLessThan(500);
  });

  test('quotes a line without the text around it, and whole up to 200 characters', () => {
    const line = `Connection refused (${'x'.repeat(179)})`;
    expect(line).toHaveLength(200);
    expect(connectionProblem(`  ${line}\r\n`)).toContain(`("${line}")`);
    expect(connectionProblem(`${line}!`)).toContain(`("${line}…")`);
  });
});

const REASONS = Object.keys(STOP_REASONS) as StopReason[];

/** The reasons with consequences. */
const FOLLOWS: Readonly<Partial<Record<StopReason, string>>> = {
  pending_timeout: 'look-up',
  image_pull: 'start failure',
  container_config: 'start failure',
  not_registered: 'look-up',
  not_assigned: 'look-up',
  offline: 'look-up',
  registration_gone: 'look-up',
};

test.each(REASONS)('the consequences of %s (E4, E5)', (reason) => {
  const isLookUp = JOBLESS_REASONS.some((one) => one === reason);
  expect(isStartFailure(reason)).toBe(FOLLOWS[reason] === 'start failure');
  expect(isLookUp).toBe(FOLLOWS[reason] === 'look-up');
});

test('gives each reason a sentence, also a reason that only a newer version knows', () => {
  const sentences = REASONS.map(describeStop);
  expect(new Set(sentences).size).toBe(REASONS.length);
  expect(describeStop('drained')).toContain('person');
  for (const sentence of sentences) expect(sentence).not.toContain('The worker was stopped:');
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].+\.$/);
  expect(describeStop('from_tomorrow')).toContain('from_tomorrow');
  expect(describeStop(null)).toContain('no reason');
  expect(isStartFailure(null)).toBe(false);
});

test.each([
  ['PDK-abc123-Linux-X64-0123456789AB', 'pdk-abc123-linux-x64-0123456789ab'],
  [' pdk-abc123-linux-x64-0123456789ab\t', 'pdk-abc123-linux-x64-0123456789ab'],
  ['GitHub Actions 12', 'GitHub Actions 12'],
  [' Mac mini ', 'Mac mini'],
  ['   ', ''],
])('the runner %j is the worker %j (B7)', (name, expected) => {
  expect(readRunnerName(name)).toBe(expected);
});

test.each([
  [{ name: 'pdk-1', id: 5 }, 5, true],
  [{ name: 'pdk-1', id: 6 }, 5, false],
  [{ name: 'pdk-2', id: 5 }, 5, false],
  [{ name: 'pdk-1', id: null }, 5, true],
  [{ name: 'pdk-1', id: 6 }, null, true],
  [{ name: null, id: 5 }, 5, false],
])(
  'the runner %j is that of the worker pdk-1 with the runner %j: %s (B7)',
  (runner, runnerId, expected) => {
    expect(isRunnerOf({ podName: 'pdk-1', runnerId }, runner)).toBe(expected);
  },
);

test('a worker’s name begins with its instance, and has no dots (A8)', () => {
  const name = workerName('abc123', 'v1.29-arm', '0123456789ab');
  expect(name).toBe('pdk-abc123-v1-29-arm-0123456789ab');
  expect(isWorkerName(name, 'abc123')).toBe(true);
});

test.each([
  ['of another instance', 'pdk-abc124-linux-0123456789ab'],
  ['of an instance that begins alike', 'pdk-abc1234-linux-0123456789ab'],
  ['that begins otherwise', 'my-pdk-abc123-linux-0123456789ab'],
  ['with a capital letter', 'pdk-abc123-Linux-0123456789ab'],
  ['with a dot', 'pdk-abc123-v1.29-0123456789ab'],
  ['that is too long', `pdk-abc123-${'l'.repeat(37)}-0123456789ab`],
  ['of a copy', 'pdk-abc123-linux-0123456789ab-debug'],
])('a name %s is of no worker of the instance (A8)', (_which, name) => {
  expect(isWorkerName(name, 'abc123')).toBe(false);
});
