import { afterEach, beforeAll } from '@jest/globals';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { rulesVariable } from '@paddock/runtime/rules';
import { late } from '@paddock/testing/use-test-database';
import { type BrowserContext, signIn, SIZES, troublesOf, useBrowser } from './browser.scene.ts';
import { putFleet } from './fleet.scene.ts';

/** A console with rows in every state, and who is signed in at it in a browser. */
export function useFleetPages() {
  const { database, service } = useConsole(rulesVariable({ console: { lookEveryMs: 500 } }));
  const browser = useBrowser();
  let ids: Awaited<ReturnType<typeof putFleet>> & { readonly token: string };
  let cookie: Awaited<ReturnType<typeof signIn>>;

  beforeAll(async () => {
    const token = await makeToken(database, { name: 'ada' });
    ids = { ...(await putFleet(database.db)), token };
    await makeToken(database, { name: 'ci-reader', access: 'read' });
    cookie = await signIn(service, token);
  });

  const opened: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of opened.splice(0)) await context.close();
  });

  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`;

  /** A context, which is closed after the test unless it is kept. */
  async function enter({ isKept = false, isSignedIn = false } = {}) {
    const context = await browser.newContext(SIZES.desk);
    if (!isKept) opened.push(context);
    if (isSignedIn) await context.addCookies([cookie]);
    return context;
  }

  /** Opens a page in a context of its own. */
  async function open(path: string, { isKept = false } = {}) {
    const context = await enter({ isKept, isSignedIn: true });
    const page = await context.newPage();
    const troubles = troublesOf(page);
    await page.goto(at(path));
    return { context, page, troubles };
  }

  return { database, service, ids: late(() => ids), at, enter, open };
}
