import { describe, expect, test } from '@jest/globals';
import { connectionProblem } from './connection-problem.ts';

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
