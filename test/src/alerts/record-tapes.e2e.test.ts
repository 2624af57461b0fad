import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from '@jest/globals';
import { recordTape } from '@paddock/bench/faults/tape';
import { waitFor } from '@paddock/testing/wait-for';
import { STATES_FILE } from '../scenes/promtool.scene.ts';
import { RULES, STATES } from '../scenes/states.scene.ts';
import { useSystem } from '../start-system.ts';

const how = { rules: RULES, settings: { PADDOCK_INSTALLATIONS_GONE_AT_MOST: '0' } };

(process.env['PADDOCK_RECORD_TAPES'] === '1' ? describe : describe.skip)(
  'the services while a fault stands (PADDOCK_RECORD_TAPES=1)',
  () => {
    const system = useSystem({ ingress: how, scheduler: how, reconciler: how });
    const folder = mkdtempSync(join(tmpdir(), 'paddock-tapes-'));
    const tapes: Record<string, unknown> = {};
    afterAll(() => writeFileSync(STATES_FILE, `${JSON.stringify(tapes, undefined, 1)}\n`));
    const services = (['ingress', 'scheduler', 'reconciler'] as const).map((name) => ({
      name,
      async metrics() {
        const url = `http://127.0.0.1:${system.running.get(name)?.healthPort}/metrics`;
        return (await fetch(url)).text();
      },
    }));
    const isShown = async (series: string): Promise<boolean> => {
      const pages = await Promise.all(services.map(({ metrics }) => metrics()));
      const lines = pages.flatMap((page) => page.split('\n'));
      return lines.some((line) => line.startsWith(`${series} `) && !line.endsWith(' 0'));
    };

    test.each(Object.entries(STATES))('%s', async (row, [series, seconds, begin, end]) => {
      const play = async (): Promise<void> => {
        await sleep(3_000);
        await begin(system);
        await waitFor(`${series} to rise`, () => isShown(series));
        await sleep(seconds * 1_000);
        await end?.(system);
        if (end !== undefined && !/_(?:total|bucket)\b/.test(series))
          await waitFor(`${series} to fall`, async () => !(await isShown(series)));
      };
      const stage = { environments: [{ services }] };
      await expect(recordTape(stage, { folder, row }, play)).resolves.toBeUndefined();
      await system.github.clearFaults();
      tapes[row] = JSON.parse(readFileSync(join(folder, `${row}.json`), 'utf8'));
    });
  },
);
