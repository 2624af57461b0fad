import { afterEach, beforeAll } from '@jest/globals';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { rulesVariable } from '@paddock/runtime/rules';
import { late } from '@paddock/testing/use-test-database';
import { type BrowserContext, signIn, SIZES, troublesOf, useBrowser } from './browser.scene.ts';
import { putFleet, CAME, HOSTILE, MISSING } from './fleet.scene.ts';

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

/** Each view of the page, with something to show. */
export const viewsOf = (
  ids: () => Awaited<ReturnType<typeof putFleet>>,
): readonly (readonly [name: string, path: () => string])[] => [
  ['fleet', () => '/'],
  ['doctor', () => '/doctor'],
  ['pools', () => '/pools'],
  ['pool', () => '/pools/gpu-a100'],
  ['busy-pool', () => '/pools/linux-x64'],
  ['jobs', () => '/jobs'],
  ['waiting-jobs', () => '/jobs?state=waiting'],
  ['job', () => `/jobs/${ids().waiting}`],
  ['hostile-job', () => `/jobs/${ids().hostile}`],
  ['huge-job', () => `/jobs/${ids().huge}`],
  ['run', () => '/runs/9200000001?owner=acme&limit=3'],
  ['workers', () => '/workers'],
  ['worker', () => `/workers/${ids().failed}`],
  ['nodes', () => '/nodes'],
  ['node', () => '/workers?node=node-3'],
  ['operations', () => '/operations'],
  ['failed-operations', () => '/operations?status=ERROR'],
  ['operations-of-repository', () => '/operations?subject=repository:acme/api'],
  ['operation', () => `/operations/${ids().operation}`],
  ['usage', () => '/usage?by=pool'],
  ['usage-of-workflows', () => '/usage?by=workflow&from=-31d'],
  ['active', () => '/active?by=pool'],
  ['active-by-labels', () => '/active?by=labels'],
  ['compare', () => '/compare'],
  ['installations', () => '/installations'],
  ['installation', () => '/installations/51000001'],
  ['suspended-installation', () => '/installations/51000002'],
  ['redeliveries', () => '/redeliveries'],
  ['given-up', () => '/redeliveries?state=given-up'],
  ['delivery', () => `/deliveries/${CAME}`],
  ['missing-delivery', () => `/deliveries/${MISSING}`],
  ['trace', () => '/trace/entity/acme'],
  ['trace-of-installation', () => '/trace/installation/51000001'],
  ['trace-of-job', () => `/trace/job/${ids().hostile}`],
  ['repositories', () => '/repositories'],
  ['repository', () => '/repositories/acme/api'],
  ['jobs-of-repository', () => '/jobs?repository=acme%2Fapi'],
  ['event', () => `/trace/payload/${ids().event}`],
  ['found-nothing', () => `/find?text=${encodeURIComponent(HOSTILE)}`],
  ['sweeps', () => '/sweeps'],
  ['switches', () => '/switches'],
  ['actions', () => '/actions'],
  ['tokens', () => '/tokens'],
  ['nothing', () => '/nothing/here'],
  ['no-job', () => '/jobs/7'],
];
