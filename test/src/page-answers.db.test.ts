import { beforeAll, expect, test } from '@jest/globals';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import {
  type BrowserContext,
  describeInBrowser,
  type Page,
  settled,
  show,
  useBrowser,
} from './scenes/browser.scene.ts';
import { putFleet } from './scenes/fleet.scene.ts';
import { SIZES } from './scenes/looks.scene.ts';

describeInBrowser('what the page answers an operator at night', () => {
  const { database, service } = useConsole({ PADDOCK_CONSOLE_LOOK_EVERY_MS: '50' });
  const browser = useBrowser();
  let ids: Awaited<ReturnType<typeof putFleet>>;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    ids = await putFleet(database.db);
    const token = await makeToken(database, { name: 'ada', oneTime: true });
    context = await browser.newContext(SIZES.desk);
    page = await context.newPage();
    await page.goto(`http://127.0.0.1:${service.port}/#sign-in=${token}`);
    await settled(page);
  });

  test('the board has the newest failures, each with its reason and a link (D12)', async () => {
    const failed = page.getByRole('region', { name: 'What failed in the last day' });
    await failed.waitFor();
    expect(await failed.locator('tbody tr').count()).toBe(5);
    const text = await failed.textContent();
    expect(text).toContain('remove-secret');
    expect(text).toContain('403 Forbidden');
    await failed.getByRole('link', { name: 'workers' }).click();
    await page.getByRole('link', { name: ids.failed }).waitFor();
    await show(page, '/');
  });
});
