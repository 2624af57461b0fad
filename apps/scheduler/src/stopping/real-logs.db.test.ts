import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readJobInLog } from '@paddock/kube/runner-log';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import { describeReal } from '../scenes/real-cluster.scene.ts';
import { useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const WRITTEN = '2026-01-01T00:00:00.000000000Z';
const START = ["Current runner version: '2.335.0'", '2026-01-01 00:00:00Z: Listening for Jobs'];
/** GitHub was hard to reach for a day. */
const RETRIES = Array.from({ length: 700 }, (_, nth) => [
  `[RUNNER 2026-01-01 00:00:00Z WARN Service] attempt ${nth} failed`,
  '[RUNNER 2026-01-01 00:00:00Z ERR Listener] no message',
  '2026-01-01 00:00:00Z: Runner connect error: a failure. Retrying until reconnected.',
]).flat();
const LONG_IDLE = [...START, ...RETRIES, '2026-01-01 12:00:00Z: Runner reconnected.'];
const SEVERAL_PAGES = [...START, ...Array.from({ length: 60_000 }, () => 'é'.repeat(60))];
const BEGUN = '2026-01-02 00:00:00Z: Running job: build';

describeReal('logs of a real API server (E5, P2)', {}, (world) => {
  const scene = useStopScene(world);
  let logsFile: string;
  let usual: string;
  beforeAll(async () => {
    logsFile = join(dirname(world.real.kubeconfigFile), 'container.log');
    usual = await readFile(logsFile, 'utf8');
  });

  const write = (lines: readonly string[], at = WRITTEN) =>
    writeFile(logsFile, lines.map((line) => `${at} stdout F ${line}\n`).join(''));

  test('a runner that has been idle for long is stopped, although its log has thousands of lines', async () => {
    const podName = await scene.startUnregistered();
    await write(LONG_IDLE);
    await scene.askToStop(podName, 'not_assigned');
    const ended = { status: 'failed', stop_held_by: null };
    expect(await scene.finish(podName)).toMatchObject(ended);
  });

  test('a log is read whole, whatever its length, and one without its beginning is known', async () => {
    const podName = await scene.startUnregistered();
    const startedAt = (await scene.pod(podName))?.runnerStartedAt;
    expect(startedAt).toBeInstanceOf(Date);
    const read = () =>
      readJobInLog(
        world.cluster,
        { namespace: NAMESPACE, name: podName, startedAt },
        AbortSignal.timeout(60_000),
      );
    await write(SEVERAL_PAGES);
    expect(await read()).toBe('listening');
    await write([...SEVERAL_PAGES, BEGUN]);
    expect(await read()).toBe('job_begun');
    await write(RETRIES, '2036-01-01T00:00:00.000000000Z');
    expect(await read()).toBe('cut');
    await writeFile(logsFile, usual);
  });
});
