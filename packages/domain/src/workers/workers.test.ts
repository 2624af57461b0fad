import { describe, expect, test } from '@jest/globals';
import { connectionProblem } from './connection-problem.ts';
import { NONE_UNCONFIRMED, type UnconfirmedPods, judgeAbsence } from './judge-absence.ts';
import { type OverdueRunner, judgeWorker } from './judge-worker.ts';
import { isRunnerOf, readRunnerName } from './runner-name.ts';
import {
  JOBLESS_REASONS,
  STOP_REASONS,
  type StopReason,
  describeStop,
  isStartFailure,
} from './stop-reasons.ts';
import { isWorkerName, workerName } from './worker-name.ts';

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

test.each<[string, Partial<OverdueRunner>, string | undefined]>([
  ['idle, and no job waits', {}, 'idle'],
  ['idle, but not for long', { isIdleDue: false }, undefined],
  [
    'idle, and a job has just begun to wait: it may be given to it',
    { waitingForMs: 599_000 },
    undefined,
  ],
  ['idle, and a job has waited as long', { waitingForMs: 600_000 }, 'not_assigned'],
  ['busy', { runner: 'busy' }, undefined],
  ['busy, and never called online before', { runner: 'busy', wasOnline: false }, undefined],
  ['idle after its job', { hadJob: true, isIdleDue: false }, 'over'],
  ['gone from GitHub after its job', { runner: 'unknown', hadJob: true, isIdleDue: false }, 'over'],
  ['offline after its job', { runner: 'offline', hadJob: true, offlineForMs: 0 }, 'over'],
  ['busy although its job is over, or was never told', { runner: 'busy', hadJob: true }, undefined],
  ['never online', { runner: 'offline', wasOnline: false, offlineForMs: 0 }, 'not_registered'],
  [
    'never online, and unknown to GitHub',
    { runner: 'unknown', wasOnline: false },
    'not_registered',
  ],
  [
    'never online, and young',
    { runner: 'offline', wasOnline: false, offlineForMs: 0, isRegistrationDue: false },
    undefined,
  ],
  ['offline for a moment', { runner: 'offline', offlineForMs: 0 }, undefined],
  [
    'offline, but since when is not written down',
    { runner: 'offline', offlineForMs: null },
    undefined,
  ],
  ['offline for long', { runner: 'offline', offlineForMs: 600_000 }, 'offline'],
  ['gone from GitHub', { runner: 'unknown' }, 'registration_gone'],
  [
    'gone from GitHub, young: it may have just ended its job',
    { runner: 'unknown', isIdleDue: false },
    undefined,
  ],
])('%s (E5)', (_what, given, expected) => {
  expect(judgeWorker({ ...OVERDUE, ...given }, { offlineMs: 600_000 })).toBe(expected);
});

const names = (count: number) => Array.from({ length: count }, (_, index) => `pod-${index}`);
const CONFIRM_AFTER_MS = 30_000;

function judge({
  known,
  there,
  unconfirmed = NONE_UNCONFIRMED,
  nowMs = 0,
}: {
  known: number;
  there: number;
  unconfirmed?: UnconfirmedPods;
  nowMs?: number;
}) {
  const { gone, unconfirmed: left } = judgeAbsence(
    { known: names(known), present: new Set(names(there)), unconfirmed, nowMs },
    CONFIRM_AFTER_MS,
  );
  return { gone: gone.length, unconfirmed: left };
}

describe('pods that a list lacks (C8, P1, P6)', () => {
  test.each([
    ['none of many', { known: 3_000, there: 3_000 }, 0, 0],
    ['half of many', { known: 3_000, there: 1_500 }, 1_500, 0],
    ['all of few', { known: 9, there: 0 }, 9, 0],
    ['all of ten', { known: 10, there: 0 }, 0, 10],
    ['most of many', { known: 3_000, there: 1_499 }, 0, 1_501],
    ['all of many', { known: 3_000, there: 0 }, 0, 3_000],
  ])('%s', (_what, given, gone, unconfirmed) => {
    const judged = judge(given);
    expect([judged.gone, judged.unconfirmed.size]).toEqual([gone, unconfirmed]);
  });

  test('are gone once a list lacks them that was read long enough after the first', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const soon = judge({ known: 100, there: 0, unconfirmed: first.unconfirmed, nowMs: 30_999 });
    expect([soon.gone, soon.unconfirmed.size]).toEqual([0, 100]);
    expect(judge({ known: 100, there: 0, unconfirmed: soon.unconfirmed, nowMs: 31_000 })).toEqual({
      gone: 100,
      unconfirmed: new Map(),
    });
  });

  test('are unconfirmed each from when it was first missed', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const later = judge({ known: 150, there: 0, unconfirmed: first.unconfirmed, nowMs: 31_000 });
    expect([later.gone, later.unconfirmed.size]).toEqual([100, 50]);
  });

  test('are unconfirmed no more after a list that has them', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    expect(judge({ known: 100, there: 99, unconfirmed: first.unconfirmed, nowMs: 2_000 })).toEqual({
      gone: 1,
      unconfirmed: NONE_UNCONFIRMED,
    });
  });
});

/** Lines as runners write them, from the runner's own source and from public reports. */
const LINES: readonly (readonly [string, string])[] = [
  [
    'The local machine’s clock may be out of sync with the server time by more than five minutes. Please sync your clock',
    'a clock',
  ],
  [
    'System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: NotTimeValid',
    'a clock',
  ],
  [
    "2026-03-02 08:00:11Z: Runner connect error: The proxy tunnel request to proxy 'http://proxy.corp:3128/' failed with status code '407'.\". Retrying until reconnected.",
    'a proxy',
  ],
  ['HTTP/1.1 407 Proxy Authentication Required', 'a proxy'],
  [
    "System.NotSupportedException: Only the 'http', 'https', 'socks4', 'socks4a' and 'socks5' schemes are allowed for proxies.",
    'a proxy',
  ],
  [
    '2026-03-02 08:00:11Z: Runner connect error: The SSL connection could not be established, see inner exception.. Retrying until reconnected.',
    'a certificate',
  ],
  [
    ' ---> System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: UntrustedRoot',
    'a certificate',
  ],
  [
    'The remote certificate is invalid because of errors in the certificate chain: PartialChain',
    'a certificate',
  ],
  ['Error: self-signed certificate in certificate chain', 'a certificate'],
  [
    '2022-04-04 03:08:45Z: Runner connect error: Resource temporarily unavailable (pipelines.actions.githubusercontent.com:443). Retrying until reconnected.',
    'a name',
  ],
  [
    'System.Net.Http.HttpRequestException: Name or service not known (api.github.com:443)',
    'a name',
  ],
  ['Temporary failure in name resolution (broker.actions.githubusercontent.com:443)', 'a name'],
  ['curl: (6) Could not resolve host: github.com', 'a name'],
  [
    'An error occurred: Runner version v2.291.1 is deprecated and cannot receive messages.',
    'a version',
  ],
  [
    'An error occurred: Error: Forbidden Runner version v2.336.0 is deprecated and cannot receive messages.',
    'a version',
  ],
  [
    'Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently.',
    'a registration',
  ],
  [
    'GitHub.Services.OAuth.VssOAuthTokenRequestException: Registration c9a9807b-9ff9-410e-8cb5-f089835c4f34 was not found.',
    'a registration',
  ],
  [
    "Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration' (Request Id: 0400:1)",
    'a registration',
  ],
  [
    "Http response code: Forbidden from 'POST https://api.github.com/actions/runner-registration' (Request Id: 0400:1)",
    'a GitHub that refuses',
  ],
  ['Response status code does not indicate success: 403 (Forbidden).', 'a GitHub that refuses'],
  ['A session for this runner already exists.', 'another runner'],
  [
    '2026-07-23 11:02:03Z: Runner connect error: Error: Conflict. Retrying until reconnected.',
    'another runner',
  ],
  ['exec /home/runner/run.sh: exec format error', 'another architecture'],
  ["Process terminated. Couldn't find a valid ICU package installed on the system.", 'libraries'],
  [
    'Execute sudo ./bin/installdependencies.sh to install any missing Dotnet Core 6.0 dependencies.',
    'libraries',
  ],
  [
    "./bin/Runner.Listener: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by ./bin/Runner.Listener)",
    'libraries',
  ],
  ['Failed to create CoreCLR, HRESULT: 0x80004005', 'libraries'],
  ['/bin/sh: 1: /home/runner/run.sh: not found', 'an image without the runner'],
  [
    'exec: "/home/runner/run.sh": stat /home/runner/run.sh: no such file or directory',
    'an image without the runner',
  ],
  [
    '/home/runner/run-helper.sh: line 36: /home/runner/bin/Runner.Listener: No such file or directory',
    'an image without the runner',
  ],
  ['Runner is not configured.', 'without its registration'],
  ['Not configured. Run config.(sh/cmd) to configure the runner.', 'without its registration'],
  [
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    'Docker',
  ],
  [
    "Unhandled exception. System.UnauthorizedAccessException: Access to the path '/home/runner/_diag' is denied.",
    'rights',
  ],
  ["touch: cannot touch '.env': Permission denied", 'rights'],
  ['Must not run interactively with sudo', 'rights'],
  ['Connection refused (api.github.com:443)', 'a connection'],
  [
    'The request was canceled due to the configured HttpClient.Timeout of 100 seconds elapsing.',
    'a connection',
  ],
  [' ---> System.IO.IOException: The response ended prematurely.', 'a connection'],
];

describe('why GitHub does not see a runner, by the runner’s own log (P5)', () => {
  test.each(LINES)('%s', (line, told) => {
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

/** The consequences of each reason. */
const FOLLOWS: Readonly<Record<StopReason, string>> = {
  pending_timeout: 'look-up',
  image_pull: 'start failure',
  container_config: 'start failure',
  not_registered: 'look-up',
  idle: '',
  not_assigned: 'look-up',
  offline: 'look-up',
  registration_gone: 'look-up',
  over: '',
  surplus: '',
  warm_expired: '',
  drained: '',
  pod_gone: '',
};

test.each(REASONS)('the consequences of %s (E4, E5)', (reason) => {
  const follows = [
    isStartFailure(reason) && 'start failure',
    JOBLESS_REASONS.some((one) => one === reason) && 'look-up',
  ];
  expect(follows.filter((one) => one !== false).join(', ')).toBe(FOLLOWS[reason]);
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
  ['pdk-abc123-linux-x64-0123456789ab', 'pdk-abc123-linux-x64-0123456789ab'],
  ['PDK-abc123-Linux-X64-0123456789AB', 'pdk-abc123-linux-x64-0123456789ab'],
  [' pdk-abc123-linux-x64-0123456789ab\t', 'pdk-abc123-linux-x64-0123456789ab'],
  ['GitHub Actions 12', 'GitHub Actions 12'],
  [' Mac mini ', 'Mac mini'],
  ['pd', 'pd'],
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
  ['that is too long', `pdk-abc123-${'l'.repeat(50)}`],
])('a name %s is of no worker of the instance (A8)', (_which, name) => {
  expect(isWorkerName(name, 'abc123')).toBe(false);
});
