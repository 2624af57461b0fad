import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { findAssets } from '@paddock/testing/played-nodes';
import { HELM, onPath } from '@paddock/testing/render-chart';
import { waitFor } from '@paddock/testing/wait-for';
import { parse } from 'yaml';
import { type ChartCluster, startChartCluster } from '../scenes/chart-cluster.scene.ts';
import { type PlayedKind, playKind } from '../scenes/play-kind.scene.ts';

const WORKFLOW = join(import.meta.dirname, '../../../.github/workflows/kind.yml');

interface Step {
  readonly name: string;
  readonly run?: string;
  readonly if?: string;
}
const { jobs } = parse(readFileSync(WORKFLOW, 'utf8')) as {
  jobs: { chart: { steps: readonly Step[] } };
};
/** All steps but those that need Docker, and those after a failure. */
const STEPS = jobs.chart.steps.flatMap(({ name, run, if: when }): [string, string][] =>
  run === undefined || when !== undefined || run.includes('docker') ? [] : [[name, run]],
);
const JOBS = STEPS.join('\n').split('complete-job.ts').length - 1;

const assets = findAssets();
const described =
  HELM === undefined || assets === undefined || onPath('openssl') === undefined
    ? describe.skip
    : describe;

/** A release waits for its pods longer than a test waits for one fact. */
const STEP_LIMIT = { timeoutMs: 280_000 };

described(
  'the steps of the workflow on kind (H1; needs helm, openssl and KUBEBUILDER_ASSETS)',
  () => {
    let folder: string;
    let cluster: ChartCluster;
    let database: EmptyDatabase;
    let kind: PlayedKind;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'paddock-kind-'));
      database = await createEmptyDatabase();
      cluster = await startChartCluster(assets ?? '');
      const network = `127.${randomInt(64, 250)}.${randomInt(0, 250)}`;
      const addressOf = (number: number): string => `${network}.${number}`;
      kind = playKind({ cluster, assets: assets ?? '', folder, addressOf });
    });
    afterAll(async () => {
      await kind?.stop();
      await cluster?.stop();
      await database?.drop();
      rmSync(folder, { recursive: true });
    });

    test.each(STEPS)('%s', async (_name, script) => {
      const step = kind.runStep(script);
      let isOver = false;
      const noteEnd = () => (isOver = true);
      step.then(noteEnd, noteEnd);
      await waitFor(
        'the end of the step',
        async () => {
          await kind.look();
          return isOver;
        },
        STEP_LIMIT,
      );
      expect(await step).toEqual({ code: 0, output: expect.any(String) });
      // In place of the database of the first look.
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'played-database', namespace: 'paddock' },
        stringData: { uri: database.url },
      });
    });

    test('each job has run in a pod of its own, whose program ended well', () => {
      expect(JOBS).toBeGreaterThan(2);
      expect([...kind.runners.values()]).toEqual(Array.from({ length: JOBS }, () => 0));
    });
  },
);
