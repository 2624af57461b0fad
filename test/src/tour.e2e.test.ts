import { expect, test } from '@jest/globals';
import type { AnswerOf } from '@paddock/api/endpoints';
import { asker } from '@paddock/console/scenes/console.scene';
import type { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import { runDemo } from '@paddock/demo/run-demo';
import { OTHERS, REASONS } from '@paddock/demo/tour/stops';
import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import { NOT_SERVED } from '@paddock/domain/pools/place-job';
import type { WaitAnswer } from '@paddock/domain/why/explain-wait';
import type { WorkerState } from '@paddock/domain/why/worker-progress';
import { firstLine } from '@paddock/testing/chromium';
import { appProgram } from '@paddock/testing/processes';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import type { z } from 'zod';
import { signIn, usePages } from './scenes/browser.scene.ts';

/** What the console's API answers to a GET. */
type Read = <T>(path: string) => Promise<T>;

type Diagnoses = z.input<typeof listDiagnosesEndpoint.output>;

const database = useTestDatabase();
const pageOf = usePages();

const STOPS = Object.entries({ ...REASONS, ...OTHERS }).flatMap(([state, stop]) =>
  'play' in stop ? [{ state, ...stop }] : [],
);

/** The states of an answer, each with the stop that shows it. A doubt takes hours to come. */
const ANSWERS: Readonly<Record<Exclude<WaitAnswer['state'], 'in_doubt'>, string>> = {
  waiting: 'at_pool_cap',
  held: 'job_waiting',
  not_served: 'ignored_no_label',
  running: 'running',
  ended: 'finished',
};

/**
 * The states of a worker on its way, each with the stop whose page lists such a worker. To be
 * registering lasts for one call of GitHub, a key makes another worker for a stopping one, and the
 * next pass gives back what is reserved where GitHub refuses.
 */
const WORKERS_ON_THE_WAY: Readonly<
  Record<Exclude<WorkerState, 'reserved' | 'registering' | 'stopping'>, string>
> = {
  ready: 'ready',
  starting: 'starting',
  offline: 'offline',
  registered: 'quota',
  no_node: 'no_capacity',
  stuck: 'workers_failing',
};

test('no reason is missing on the tour (P5)', () => {
  const reasons = [...Object.keys(WAIT_REASONS), ...NOT_SERVED, 'job_waiting'];
  expect(Object.keys(REASONS).toSorted()).toEqual(reasons.toSorted());
});

test('the tour reaches each state, and the console that stays says so (P5)', async () => {
  let shown = '';
  const stop = new AbortController();
  const running = runDemo(
    { jobs: 1, loss: 0, keep: true, tour: true, json: false, cluster: 'simulated' },
    {
      databaseUrl: database.url,
      kubeconfigFile: undefined,
      path: process.env['PATH'],
      write: (text) => (shown += text),
      programOf: appProgram,
    },
    stop.signal,
  );
  try {
    const [, base = '', port, token = ''] = await waitFor(
      'the console',
      () => /console: (\S+:(\d+))\/#sign-in=(\S+) /.exec(shown) ?? undefined,
    );
    const ask = asker(base);
    // The link signs in once.
    const session = await signIn({ ask, port: Number(port) }, token);
    const headers = { cookie: `paddock=${session.value}` };
    const read: Read = async (path) => (await ask(path, undefined, { headers })).json() as never;
    const page = await pageOf(session);
    if (page !== undefined) {
      await firstLine(page)
        .filter({ hasText: /^\d+ jobs? held back: / })
        .waitFor();
      // A page that nobody reads would be drawn anew with each of thousands of changes.
      await page.goto('about:blank');
    }
    const stays = () => shown.includes('Staying up until Ctrl-C');
    await Promise.race([running, waitFor('the end of the tour', stays, { timeoutMs: 240_000 })]);
    expect(shown).not.toContain('The tour did not reach');
    // It is a secret.
    expect(shown.split(token)).toHaveLength(2);
    await check(shown, base, read);
    await page?.goto(base);
    if (page !== undefined)
      await firstLine(page).filter({ hasText: 'holds back the making of workers' }).waitFor();
  } finally {
    stop.abort();
  }
  await expect(running).resolves.toMatchObject({
    lost: 0,
    tour: { reached: STOPS.length, missed: 0 },
  });
}, 300_000);

/** Holds what the demo printed against the tour's tables and the console. */
async function check(shown: string, base: string, read: Read): Promise<void> {
  const whyAt = (path: string) => read<AnswerOf<'whyJob'>>(`${path.slice(1)}/why`);
  const pages = new Map<string, string>();
  for (const { state, says } of STOPS) {
    const [, sentence = '', path = ''] =
      new RegExp(`\n  ${state}\n    (.*)\n    ${base}(/.*)\n`).exec(shown) ?? [];
    expect([state, sentence]).toEqual([state, expect.stringMatching(says)]);
    if (!path.startsWith('/jobs/')) continue;
    const answer = await whyAt(path);
    // What has passed stands on the job's page as what it waited for before.
    const reasons = [answer.reason, ...answer.earlier.map(({ reason }) => reason)];
    expect(reasons).toContain(Object.hasOwn(WAIT_REASONS, state) ? state : answer.reason);
    pages.set(state, path);
  }
  // Nothing is away at the end: what a person holds back comes first on the board.
  const { items } = await read<Diagnoses>('diagnoses');
  expect(items[0]).toMatchObject({
    name: 'making_stopped',
    act: 'resume',
    job: expect.any(Number),
  });
  for (const [state, at] of Object.entries(ANSWERS))
    expect([at, (await whyAt(pages.get(at) ?? '')).state]).toEqual([at, state]);
  // A stuck worker is stopped after a while, and another one is tried after a pause.
  await Promise.all(
    Object.entries(WORKERS_ON_THE_WAY).map(([state, at]) =>
      waitFor(`a worker on the page of ${at} to be ${state}`, async () =>
        (await whyAt(pages.get(at) ?? '')).workers.some((worker) => worker.state === state),
      ),
    ),
  );
}
