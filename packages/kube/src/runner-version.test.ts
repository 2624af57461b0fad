import { expect, test } from '@jest/globals';
import { refusedVersion } from './runner-version.ts';

const LISTENING = '2026-08-06 10:00:00Z: Listening for Jobs';

// As runners wrote them in actions/runner#2246, #3471 and #4613.
test.each([
  [
    'An error occurred: Runner version v2.296.2 is deprecated and cannot receive messages.',
    '2.296.2',
  ],
  [
    'An error occured: Runner version v2.319.0 is deprecated and cannot receive messages.',
    '2.319.0',
  ],
  [
    'An error occurred: Error: Forbidden Runner version v2.336.0 is deprecated and cannot receive messages.',
    '2.336.0',
  ],
  [
    '[RUNNER 2026-08-06 10:00:01Z ERR  Terminal] WRITE ERROR: An error occurred: Runner version v2.336.0 is deprecated and cannot receive messages.',
    '2.336.0',
  ],
  ['A session for this runner already exists.', undefined],
])('a log with "%s" shows the refused version %s (C11)', (line, version) => {
  expect(refusedVersion([LISTENING, line, 'Exiting runner...', ''].join('\n'))).toBe(version);
});

test('after a job began, the log’s words may be the job’s (P2)', () => {
  const said = 'Runner version v2.336.0 is deprecated and cannot receive messages.';
  const working = [LISTENING, '2026-08-06 10:00:05Z: Running job: build', said];
  expect(refusedVersion(working.join('\n'))).toBeUndefined();
  expect(
    refusedVersion(
      [...working, '2026-08-06 10:00:09Z: Job build completed with result: Succeeded'].join('\n'),
    ),
  ).toBeUndefined();
});
