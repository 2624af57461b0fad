import { expect, test } from '@jest/globals';
import {
  describeStop,
  isStartFailure,
  JOBLESS_REASONS,
  STOP_REASONS,
  type StopReason,
} from './stop-reasons.ts';

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
