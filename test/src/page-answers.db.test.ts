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
  });

  test('waiting jobs are counted by reason, and filtered by it in the address (D12)', async () => {
    await show(page, '/jobs?state=waiting&entity=acme');
    const reasons = page.getByRole('list', { name: 'Jobs that wait, by reason' });
    await reasons.getByRole('link', { name: 'at pool cap' }).click();
    await page.waitForURL('**/jobs?entity=acme&state=waiting&reason=at_pool_cap');
    await reasons.locator('[aria-current]').waitFor();
    const counted = await reasons.locator('[aria-current] b').textContent();
    expect(await page.locator('tbody tr').count()).toBe(Number(counted));
    expect(await page.getByLabel('Waits for').inputValue()).toBe('at_pool_cap');
    await reasons.locator('[aria-current]').click();
    await page.waitForURL('**/jobs?entity=acme&state=waiting');
  });
});
