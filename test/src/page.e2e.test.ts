import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AnswerOf, ENDPOINTS } from '@paddock/api/endpoints';
import { makeToken } from '@paddock/console/scenes/console.scene';
import { firstLine } from '@paddock/testing/chromium';
import { waitFor } from '@paddock/testing/wait-for';
import { putKey } from '@paddock/api/scenes/ask.scene';
import { noteAway } from '@paddock/db/outages';
import { putJob } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import {
  ACTIONS,
  FIRST_LINES,
  type BrowserContext,
  type Page,
  actByKeyboard,
  bringJudge,
  cutOffInBar,
  describeInBrowser,
  flaws,
  keepPicture,
  reach,
  see,
  settled,
  show,
  type,
} from './scenes/browser.scene.ts';
import { HOSTILE } from './scenes/fleet.scene.ts';
import { useFleetPages } from './scenes/fleet-page.scene.ts';

const SHOWN = HOSTILE.replace('\u202E', String.raw`\u202e`);

const shows = (page: Page, name: string) => page.getByRole('link', { name }).waitFor();

describeInBrowser('the page in a browser', () => {
  const { database, service, ids, at, enter, open } = useFleetPages();

  const put = async (job_name: string, of: Parameters<typeof putJob>[1] = {}) => {
    await putJob(database.db, { ...of, job_name });
    // Else the session may hold its counter back for ten seconds.
    await sql`select pg_stat_force_next_flush()`.execute(database.db);
  };
  const GLOBEX = { entity_id: 90_000_002, entity_name: 'globex' };

  test('has every view in its bar, whole, however narrow the window is', async () => {
    const { page } = await open('/');
    await page.locator('.top nav a').nth(5).waitFor();
    // The last but one is a browser of 1280 pixels at 200 %.
    for (const width of [1_400, 1_280, 1_249, 1_248, 1_160, 1_024, 768, 640, 375]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await cutOffInBar(page)]).toEqual([width, []]);
    }
  });

  test('asks no other host, and its first load is one script and one style', async () => {
    const asked: string[] = [];
    const { page } = await open('/jobs');
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await settled(page);
    expect(asked.filter((url) => !url.startsWith(at('/')))).toEqual([]);
    expect(asked.filter((url) => /\.(js|css)$/.test(url))).toHaveLength(2);
  });

  test('says why with the very sentence of the API (P5)', async () => {
    const answer = await service.ask(`jobs/${ids.waiting}/why`, ids.token);
    const { sentence, advice } = (await answer.json()) as AnswerOf<'whyJob'>;
    const { page } = await open(`/jobs/${ids.waiting}`);
    expect(await page.locator('.sentence').textContent()).toBe(sentence);
    const all = await page.locator('.why').textContent();
    expect(all).toContain(advice);
  });

  test('shows hostile names as text', async () => {
    const { page, troubles } = await open(`/jobs/${ids.hostile}`);
    await settled(page);
    // A character that turns the text stands there as its escape.
    expect(await page.locator('h1').textContent()).toBe(SHOWN);
    expect(await page.title()).toBe(`${SHOWN} · Paddock`);
    expect(await page.locator('main img, main script, a[href^="javascript"]').count()).toBe(0);
    await page.goto(at(`/workers/${ids.failed}`));
    await settled(page);
    expect(await page.locator('pre').first().textContent()).toContain(SHOWN);
    expect(troubles).toEqual([]);
  });

  test('keeps what was typed for after the next sign-in, and the place for who comes back', async () => {
    const { context, page } = await open('/jobs');
    await settled(page);
    const at30 = page.getByRole('row').nth(30);
    await at30.scrollIntoViewIfNeeded();
    const height = () => page.evaluate<number>('scrollY');
    const before = await height();
    expect(before).toBeGreaterThan(100);
    await at30.getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await waitFor('the place in the list', async () => Math.abs((await height()) - before) < 2);
    // The keys of the page; a slash at the end of an address is none of it.
    await page.goto(at('/tokens/'));
    await page.getByRole('heading', { name: 'Tokens' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.locator('.find input:focus').count()).toBe(1);

    const name = 'n'.repeat(60);
    await page.getByRole('button', { name: 'New token …' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await bringJudge(page);
    expect(await flaws(page, 'all')).toEqual([]);
    await context.clearCookies();
    // Not by its button: the page may have found out itself by now, and have put the dialog away.
    await page.keyboard.press('Enter');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.getByLabel('Token', { exact: true }).fill(ids.token);
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(name);
    await page.locator('dialog button[type=submit]').first().click();
    await page.getByRole('button', { name: 'Copy' }).waitFor();
  });

  test('loses the session with its token', async () => {
    const { context, page } = await open('/jobs');
    await settled(page);
    await context.clearCookies();
    await page.getByRole('link', { name: 'Workers' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await page.locator('table').count()).toBe(0);
  });

  test('a link signs in once, and leaves neither the address bar nor the history with its token', async () => {
    const link = `/jobs#sign-in=${await makeToken(database, { name: 'link', oneTime: true })}`;
    const context = await enter();
    const page = await context.newPage();
    await page.goto(at(link));
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect(page.url()).toBe(at('/jobs'));
    expect(await page.evaluate('history.length')).toBe(2); // with the empty page before
    await context.clearCookies();
    await page.goto('about:blank');
    await page.goto(at(link));
    await page.getByText('This link has been used, or is too old').waitFor();
    expect(page.url()).toBe(at('/jobs'));
  });

  test('moves by itself; hidden or paused it asks for nothing', async () => {
    const { page } = await open('/jobs?state=waiting&entity=globex');
    const other = await open('/jobs?state=waiting&entity=globex');
    await page.locator('.live', { hasText: 'Live' }).waitFor();
    await put('first', GLOBEX);
    await shows(page, 'first');

    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    for (const [rest, goOn, name] of [
      [() => see(page, 'hidden'), () => see(page, 'visible'), 'second'],
      [() => page.locator('.live').click(), () => page.locator('.live').click(), 'third'],
    ] as const) {
      await rest();
      await page.locator('.live', { hasNotText: 'Live' }).waitFor();
      asked.length = 0;
      await put(name, GLOBEX);
      // Another page is told meanwhile.
      await shows(other.page, name);
      await page.evaluate('window.dispatchEvent(new Event("focus"))');
      expect([name, asked, await page.getByRole('link', { name }).count()]).toEqual([name, [], 0]);
      await goOn();
      await shows(page, name);
    }
  });

  test('keeps the position and the focus when rows come', async () => {
    const { page } = await open('/jobs');
    await settled(page);
    await page.locator('.live', { hasText: 'Live' }).waitFor();
    const row = page.getByRole('row').nth(30);
    await row.getByRole('link').first().focus();
    await row.scrollIntoViewIfNeeded();
    const link = String(await page.evaluate('document.activeElement.href'));
    const placeOf = () =>
      page.evaluate<number>('document.activeElement.getBoundingClientRect().top');
    const before = await placeOf();
    await put('came-meanwhile');
    await page.getByRole('link', { name: 'came-meanwhile' }).waitFor();
    expect(await page.evaluate('document.activeElement.href')).toBe(link);
    expect(Math.abs((await placeOf()) - before)).toBeLessThan(3);
  });

  describe('answers an operator at night', () => {
    let context: BrowserContext;
    let page: Page;
    beforeAll(async () => {
      ({ context, page } = await open('/', { isKept: true }));
      await settled(page);
    });
    afterAll(() => context.close());

    // The fault matrix measures that it does so within five seconds.
    test('the board’s first line names the cause of the first job that is held back (P5)', async () => {
      const first = firstLine(page);
      for (const [pool, reason, cause, away] of FIRST_LINES) {
        if (away !== undefined) await noteAway(database.db, away, 'timed out');
        await putKey(database.db, await putJob(database.db, { ...GLOBEX, k8s_pool: pool }), reason);
        await first.filter({ hasText: cause }).waitFor();
        expect(await first.textContent()).toMatch(/^1 job held back: /);
      }
      await sql`with away as (delete from outages), keys as (delete from demand_keys where entity_id = ${GLOBEX.entity_id})
        delete from jobs where entity_id = ${GLOBEX.entity_id}`.execute(database.db);
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
      await show(page, '/pools/none');
      await page.getByText('There is no pool of the name none.').waitFor();
      await show(page, '/installations/99');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('button', { name: 'Resync …' }).count()).toBe(0);
      await show(page, '/installations/51000001');
      await page.getByRole('button', { name: 'Resync …' }).waitFor();
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
      await watching.goto(at('/jobs'));
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

  test('is used by keyboard alone, from the sign-in to the sign-out: every action (G)', async () => {
    const context = await enter();
    const page = await context.newPage();
    await page.goto(at('/jobs?state=waiting'));
    await page.getByLabel('Token').waitFor();
    await keepPicture(page, 'sign-in');
    await bringJudge(page);
    expect(await flaws(page, 'all')).toEqual([]);
    await type(page, 'paddock_wrong');
    await page.getByRole('alert').waitFor();
    await reach(page, page.locator('input[name=token]'));
    await page.keyboard.press('ControlOrMeta+A');
    await type(page, ids.token);
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();

    // A job, by the first link of the table; its heading has the focus then.
    await reach(page, page.locator('td a'));
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: String(name) }).waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await reach(page, page.locator('.why summary'));
    await page.keyboard.press('Enter');
    await page.locator('.why details[open] pre').first().waitFor();

    const said: string[] = [];
    for (const action of ACTIONS) said.push(await actByKeyboard(page, action));
    expect(said.join()).toContain('Only this answer shows it');
    const { items } = (await (await service.ask('actions?limit=100', ids.token)).json()) as {
      items: { endpoint: string; note: string | null }[];
    };
    const taken = items.flatMap(({ endpoint, note }) => (note === endpoint ? [endpoint] : []));
    const all = ENDPOINTS.flatMap(({ name: of, access, method }) =>
      access === 'operate' && method !== 'GET' ? [of] : [],
    );
    expect([...new Set(taken)].toSorted()).toEqual(all.toSorted());

    await reach(page, page.locator('.person summary'));
    await page.keyboard.press('Enter');
    await reach(page, page.locator('.person button'));
    await page.keyboard.press('Enter');
    await page.getByLabel('Token').waitFor();
    expect((await context.cookies()).filter(({ name: of }) => of.includes('paddock'))).toEqual([]);
  });
});
