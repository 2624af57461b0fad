import { beforeAll, expect, test } from '@jest/globals';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { rulesVariable } from '@paddock/runtime/rules';
import {
  type BrowserContext,
  type Page,
  SIZES,
  describeInBrowser,
  settled,
  show,
  useBrowser,
} from './scenes/browser.scene.ts';
import { putFleet } from './scenes/fleet.scene.ts';

describeInBrowser('what the page answers an operator at night', () => {
  const { database, service } = useConsole(rulesVariable({ console: { lookEveryMs: 500 } }));
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

  test('a mistake in an address is told once, and nothing is offered for what is not there', async () => {
    await show(page, '/jobs/abc');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await show(page, '/jobs/1');
    const told = await page.getByRole('alert').allTextContents();
    expect(told).toEqual([expect.stringMatching(/^Not found\. Paddock knows no job 1: /)]);
    await show(page, '/installations/99');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Resync …' }).count()).toBe(0);
    await show(page, '/installations/51000001');
    await page.getByRole('button', { name: 'Resync …' }).waitFor();
    await show(page, '/jobs?state=waiting&pool=linux-x46');
    await page.getByRole('alert').getByText('did you mean linux-x64?').waitFor();
  });

  test('what was found is named by its name, and usage says what it is by', async () => {
    await show(page, '/find?text=acme');
    await page.getByRole('heading', { name: 'What happened to acme' }).waitFor();
    await show(page, '/usage');
    expect(await page.locator('select[name=by]').inputValue()).toBe('repository');
  });

  test('a console that hangs is seen within half a minute, and when it goes on (F4)', async () => {
    const watching = await context.newPage();
    await watching.clock.install();
    await watching.goto(`http://127.0.0.1:${service.port}/jobs`);
    const live = watching.locator('.live');
    await live.and(watching.getByText('Live', { exact: true })).waitFor();
    service.kill('SIGSTOP');
    try {
      await watching.clock.fastForward(26_000);
      const told = watching.getByRole('alert').filter({ hasText: 'Not connected' });
      await told.waitFor();
      expect(await told.textContent()).toMatch(/, last news at \d{4}-\d\d-\d\d [\d:]{8} UTC, /);
      expect(await live.textContent()).toBe('Not connected');
    } finally {
      service.kill('SIGCONT');
    }
    await live.and(watching.getByText('Live', { exact: true })).waitFor();
    expect(await watching.getByRole('alert').count()).toBe(0);
    await watching.close();
  });
});
