import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { executorEvents } from './executor-events.ts';

const TASK = {
  id: 'id',
  kind: 'a',
  subject: { type: 'worker', id: 'x' },
  attempt: 1,
  crashes: 0,
  deliveryGuid: 'guid',
};

describe('executorEvents', () => {
  test('move the metrics and write the log lines that go with them (D8)', async () => {
    const { log, lines } = recordingLog();
    const metrics = createMetrics();
    const events = executorEvents(metrics, log);
    events.tasksInFlight('a', 2);
    events.taskProcessed(TASK, 'ok', { durationMs: 40 });
    events.taskProcessed(TASK, 'retry', { durationMs: 40, message: '502', dueInMs: 30_000 });
    events.taskProcessed(TASK, 'poison', { durationMs: 40, reason: 'poison', message: 'gone' });
    events.taskCrashed(TASK);
    events.taskTakenOver(TASK);
    events.taskLost(TASK);
    events.taskReleased(TASK, 'stopping');
    events.executorFailed('claim', new Error('refused'));
    const text = await metrics.registry.metrics();
    for (const line of [
      'paddock_task_in_flight{kind="a"} 2',
      'paddock_task_processed_total{kind="a",outcome="ok"} 1',
      'paddock_task_processed_total{kind="a",outcome="retry"} 1',
      'paddock_task_processed_total{kind="a",outcome="poison"} 1',
      'paddock_task_processed_total{kind="a",outcome="failed"} 1',
      'paddock_task_duration_seconds_count{kind="a"} 3',
      'paddock_events_total{event="taskTakenOver"} 1',
      'paddock_events_total{event="taskLost"} 1',
      'paddock_events_total{event="executorFailed"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(lines.map(({ level }) => level)).toEqual([
      'debug',
      'warn',
      'error',
      'error',
      'warn',
      'warn',
      'warn',
      'error',
    ]);
    expect(lines[1]).toEqual({
      level: 'warn',
      message: 'task processed',
      fields: { task: TASK, outcome: 'retry', durationMs: 40, message: '502', dueInMs: 30_000 },
    });
  });
});

interface Line {
  level: string;
  message: string;
  fields: unknown;
}

function recordingLog() {
  const lines: Line[] = [];
  const at = (level: string) => (message: string, fields: object) =>
    lines.push({ level, message, fields });
  return {
    lines,
    log: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') },
  };
}
