import { describe, expect, test } from '@jest/globals';
import { createApp, listenHttp } from '@paddock/runtime/http-server';
import { CHROMIUM } from '@paddock/testing/chromium';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bringJudge, seriousFlaws, useBrowser } from './scenes/browser.scene.ts';

const DIST = join(import.meta.dirname, '../../site/dist');
const isBuilt = CHROMIUM !== undefined && existsSync(DIST);
const described = isBuilt ? describe : describe.skip;

described('the site (needs Chromium, and site/dist)', () => {
  const browser = useBrowser();

  test.each(['light', 'dark'] as const)('has no serious flaws in the %s theme', async (theme) => {
    const [, base = ''] =
      /href="([^"]*)assets/.exec(readFileSync(join(DIST, 'index.html'), 'utf8')) ?? [];
    const app = createApp();
    app.get(/.*/, (request, response) =>
      // The browser asks for an icon that is not there.
      response.sendFile(join(DIST, request.path.slice(base.length)), () => response.end()),
    );
    const http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
    const page = await browser.newPage({ colorScheme: theme });
    const flaws: string[] = [];
    for (const path of ['index', 'install', 'reference', 'compare', 'alerts/jobs-starved']) {
      await page.goto(`http://127.0.0.1:${http.port}${base}${path}.html`);
      await page.getByRole('button', { name: 'Search' }).waitFor();
      await bringJudge(page);
      flaws.push(...(await seriousFlaws(page, 'all')));
    }
    expect(flaws).toEqual([]);
    expect(await page.getByRole('main').count()).toBe(1);
    await page.close();
    http.server.closeAllConnections();
    await http.close();
  });
});
