import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { noteLife } from '@paddock/db/instance';
import { findPath, PATHS } from '../../packages/page/src/paths.ts';
import {
  type BrowserContext,
  bringJudge,
  describeInBrowser,
  flaws,
  keepPicture,
  LOOKS,
  type Page,
  settled,
  show,
  signIn,
  SIZES,
  unlinked,
  unlinkedNumbers,
  usePages,
} from './scenes/browser.scene.ts';
import { useFleetPages, viewsOf } from './scenes/fleet-page.scene.ts';

describeInBrowser('each view of the page', () => {
  const { ids, open } = useFleetPages();
  const VIEWS = viewsOf(() => ids);

  let context: BrowserContext;
  let page: Page;
  let troubles: readonly string[];
  beforeAll(async () => {
    ({ context, page, troubles } = await open('/', { isKept: true }));
    await settled(page);
    await bringJudge(page);
  });
  afterAll(() => context.close());

  test('is here', () => {
    const shown = new Set(VIEWS.map(([, path]) => findPath(path().split('?')[0] ?? '')?.path));
    expect(PATHS.filter((path) => !shown.has(path))).toEqual([]);
  });

  test.each(VIEWS)('is fit for every reader: %s', async (name, path) => {
    await show(page, path());
    for (const look of LOOKS) {
      const { viewport } = SIZES[look.size];
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: look.theme });
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect([look, width]).toEqual([look, viewport.width]);
      if (!('rules' in look)) continue;
      await keepPicture(page, `${name}-${look.theme}-${look.size}`);
      expect([look, await flaws(page, look.rules)]).toEqual([look, []]);
    }
    const text = await page.locator('body').innerText();
    expect(text).not.toMatch(/-\d+ (s|min|h|d)\b|NaN|undefined/);
    // What strangers have named runs nowhere, leads nowhere, and turns no text of ours.
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
    expect(await page.title()).toMatch(/ · Paddock$/);
    expect(await unlinked(page, ids.names)).toEqual([]);
    expect(await unlinkedNumbers(page)).toEqual([]);
    const markup = 'main img, main script, main iframe, a[href^="javascript" i]';
    expect(await page.locator(markup).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  // Of the job, the worker's.
  test.each([
    ['/jobs/{job}', () => `/jobs/${ids.running}`, /^Operations of the worker /],
    ['/workers/{worker}', () => `/workers/${ids.failed}`, /^Operations of the worker /],
    ['/pools/{pool}', () => '/pools/gpu-a100', /^Operations of the pool /],
    ['/installations/{installation}', () => '/installations/51000001', /^Operations of the inst/],
    [
      '/repositories/{owner}/{repository}',
      () => '/repositories/acme/api',
      /^Operations of the rep/,
    ],
  ])('leads to the operations of its subject, and back: %s', async (_, path, title) => {
    await show(page, path());
    await page.locator('main a[href*="/operations?subject="]').first().click();
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByRole('link', { name: /^The (worker|pool|installation|repository)$/ }).click();
    await page.locator('main a[href*="/operations?subject="]').first().waitFor();
    expect(await page.locator('main [role=alert]').count()).toBe(0);
  });
});

describeInBrowser('an installation that has just been made', () => {
  const { database, service } = useConsole();
  const pageOf = usePages();

  test('has a sentence in each list, and while it loads', async () => {
    const page = await pageOf(await signIn(service, await makeToken(database, { name: 'ada' })));
    if (page === undefined) return;
    await settled(page);
    await bringJudge(page);
    const lists = PATHS.filter((path) => !/\{|find|doctor|actions|tokens/.test(path));
    for (const path of lists) {
      await show(page, path);
      await keepPicture(page, `empty${path.replaceAll('/', '-')}`);
      expect([path, await page.locator('main .none').count()]).not.toEqual([path, 0]);
      expect([path, await flaws(page, 'all')]).toEqual([path, []]);
    }
    for (const name of ['ingress', 'scheduler', 'reconciler'] as const)
      await noteLife(database.db, name);
    await show(page, '/');
    await page.getByText('Nothing holds back work here.').waitFor();
    // Not before that is known.
    await page.route('**/api/v1/diagnoses', () => undefined);
    await page.reload();
    await page.getByText('No pool is in force.').waitFor();
    expect(await page.locator('main .none').first().textContent()).toMatch(/^Asking what holds/);
    await page.route('**/api/v1/**', () => undefined);
    await page.evaluate(
      "history.pushState(null, '', '/jobs/7'); dispatchEvent(new PopStateEvent('popstate'))",
    );
    const loading = page.locator('output.none');
    await loading.waitFor();
    expect(await loading.count()).toBe(1);
  });
});
