import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { valuesOf } from '@paddock/runtime/rules';
import { readSettings } from '@paddock/runtime/settings';
import { executorEvents } from './executor-events.ts';
import { executorRules, executorSettings, scaledSlots } from './executor-settings.ts';
import { done } from './kind.ts';
import { queueRules } from './rules.ts';

describe('executorSettings', () => {
  test('and rules have the numbers of the requirements (D3, D5, D13, F2)', () => {
    const { values, problems } = readSettings(executorSettings, {});
    expect(problems).toEqual([]);
    expect(executorRules({ ...values, ...valuesOf(queueRules), drainMs: 30_000 })).toEqual({
      claimMs: 15_000,
      pollMs: 5_000,
      timeoutMs: 300_000,
      backoff: { firstMs: 30_000, longestMs: 3_600_000 },
      keep: { okMs: 86_400_000, failedMs: 1_209_600_000 },
      concurrencyPercent: 100,
      drainMs: 24_000,
    });
  });

  test.each(['-1', 'many', '1001'])('refuse a concurrency of %s (D7)', (value) => {
    const { problems } = readSettings(executorSettings, { PADDOCK_TASK_CONCURRENCY: value });
    expect(problems).toEqual([expect.stringContaining('PADDOCK_TASK_CONCURRENCY')]);
  });
});

const handler = () => Promise.resolve(done());

describe('scaledSlots', () => {
  const kinds = { many: { handler, slots: 16 }, few: { handler, slots: 2 } };

  test.each([
    [100, { many: 16, few: 2 }],
    [200, { many: 32, few: 4 }],
    [10, { many: 2, few: 1 }],
    [0, { many: 0, few: 0 }],
  ])('at %i percent, and never none of a kind unless none at all (D7)', (percent, slots) => {
    expect(scaledSlots(kinds, percent)).toEqual(slots);
  });
});

const subject = { type: 'worker', id: 'x' };
const TASK = { id: 'id', kind: 'a', subject, attempt: 1, crashes: 0, deliveryGuid: 'guid' };

test('the events of an executor move the metrics and write the log lines that go with them (D8)', async () => {
  const lines: [string, object][] = [];
  const at = (level: string) => (_message: string, fields: object) =>
    void lines.push([level, fields]);
  const log = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  const metrics = createMetrics();
  const events = executorEvents(metrics, log);
  const retry = { durationMs: 40, message: '502', dueInMs: 30_000 };
  events.tasksInFlight('a', 2);
  events.taskProcessed(TASK, 'ok', { durationMs: 40 });
  events.taskProcessed(TASK, 'retry', retry);
  events.taskProcessed(TASK, 'poison', { durationMs: 40, reason: 'poison', message: 'gone' });
  events.taskCrashed(TASK);
  const text = await metrics.registry.metrics();
  for (const line of [
    'paddock_task_in_flight{kind="a"} 2',
    ...['ok', 'retry', 'poison', 'failed'].map(
      (outcome) => `paddock_task_processed_total{kind="a",outcome="${outcome}"} 1`,
    ),
    'paddock_task_duration_seconds_count{kind="a"} 3',
    'paddock_events_total{event="taskCrashed"} 1',
  ])
    expect(text).toContain(line);
  expect(lines.map(([level]) => level)).toEqual(['debug', 'warn', 'error', 'error']);
  const { message: problem, ...run } = retry;
  expect(lines[1]?.[1]).toEqual({ task: TASK, outcome: 'retry', ...run, problem });
});
