import { MISSING } from './fleet-deliveries.scene.ts';
import { type Page, reach } from './browser.scene.ts';

/** An action as somebody without a mouse takes it. */
export interface ByKeyboard {
  /** The endpoint by which the audit knows it. */
  readonly endpoint: string;
  /** A view of the bar, or what is pasted into the field above every view. */
  readonly at: { readonly view: string } | { readonly find: string };
  /** The boxes of the rows to choose. */
  readonly choose?: readonly string[];
  /** What the view says before. */
  readonly shows?: string;
  /** The text of the button that asks. */
  readonly button: string | RegExp;
  readonly fill?: Readonly<Record<string, string>>;
  /** What the dialog says, such as the count. */
  readonly says?: string;
}

const worker = (n: number) => `pdk-a1b2c3-linux-x64-000${n}`;
const failed = (n: number) => `Choose remove-secret of ${worker(n)}`;

/** Every action of the page. */
export const ACTIONS = (): readonly ByKeyboard[] => [
  { endpoint: 'setSwitch', at: { find: 'gpu-a100' }, button: 'Stop making …' },
  { endpoint: 'drainPool', at: { find: 'linux-arm64' }, button: 'Drain …', says: '0 workers' },
  {
    endpoint: 'liftSwitch',
    at: { find: 'gpu-a100' },
    shows: 'token ada holds back pool:gpu-a100',
    button: 'Resume …',
  },
  { endpoint: 'drainWorker', at: { find: 'pdk-a1b2c3-linux-x64-0015' }, button: 'Drain …' },
  {
    endpoint: 'drainWorker',
    at: { view: '/workers' },
    choose: ['Choose pdk-a1b2c3-linux-x64-0018', 'Choose pdk-a1b2c3-linux-x64-0019'],
    button: 'Drain 2 workers …',
    says: '2 workers',
  },
  {
    endpoint: 'retryOperation',
    at: { view: '/operations' },
    choose: [failed(0), failed(1)],
    button: 'Retry 2 operations …',
    says: '2 operations',
  },
  {
    endpoint: 'discardOperation',
    at: { view: '/operations' },
    choose: [failed(2)],
    button: 'Discard 1 operation …',
    says: worker(2),
  },
  {
    endpoint: 'handleFailedOperations',
    at: { view: '/operations' },
    button: 'Retry all that fit …',
    says: '5 operations',
  },
  {
    endpoint: 'handleFailedOperations',
    at: { view: '/operations' },
    button: 'Discard all that fit …',
    says: '0 operations',
  },
  { endpoint: 'redeliverDelivery', at: { find: MISSING }, button: 'Redeliver …' },
  {
    endpoint: 'redeliverDelivery',
    at: { view: '/redeliveries' },
    choose: ['Choose all rows of this page'],
    button: 'Redeliver 5 deliveries …',
    says: '5 deliveries',
  },
  {
    endpoint: 'runSweep',
    at: { view: '/redeliveries' },
    button: 'Redeliver since …',
    fill: { app: '1001', since: '-24h' },
  },
  { endpoint: 'resyncInstallation', at: { find: '51000001' }, button: 'Resync …' },
  { endpoint: 'resyncRepository', at: { find: 'acme/api' }, button: 'Resync …' },
  { endpoint: 'setSwitch', at: { find: 'acme/api' }, button: 'Forbid resyncs …' },
  { endpoint: 'runSweep', at: { view: '/switches' }, button: 'Run a sweep …' },
  { endpoint: 'setSwitch', at: { view: '/switches' }, button: 'Pause a sweep …' },
  { endpoint: 'liftSwitch', at: { view: '/switches' }, button: /^sweeps/ },
  { endpoint: 'liftSwitch', at: { view: '/switches' }, button: /^pool:windows/ },
  {
    endpoint: 'createToken',
    at: { view: '/tokens' },
    button: 'New token …',
    fill: { name: 'by-keyboard' },
  },
  {
    endpoint: 'endSessions',
    at: { view: '/tokens' },
    button: 'Sign a person out …',
    fill: { person: 'ada@example.com' },
  },
  { endpoint: 'revokeToken', at: { view: '/tokens' }, button: /^by-keyboard/ },
];

/** Takes an action with keys only, and leaves its dialog. Returns what the dialog said. */
export const actByKeyboard = (page: Page, action: ByKeyboard): Promise<string> =>
  act(page, action).catch((error: unknown) => {
    throw new Error(`${action.endpoint} by ${action.button}`, { cause: error });
  });

async function act(page: Page, action: ByKeyboard): Promise<string> {
  await go(page, action.at);
  if (action.shows !== undefined) await page.getByText(action.shows).waitFor();
  for (const label of action.choose ?? []) {
    await reach(page, page.getByLabel(label, { exact: true }));
    await page.keyboard.press('Space');
  }
  const { button } = action;
  await reach(
    page,
    typeof button === 'string'
      ? page.locator('main').getByRole('button', { name: button, exact: true })
      : page.getByRole('row').filter({ hasText: button }).getByRole('button'),
  );
  await page.keyboard.press('Enter');
  const dialog = page.locator('dialog[open]');
  await dialog.waitFor();
  if (action.says !== undefined) await dialog.getByText(action.says).first().waitFor();
  if (action.fill !== undefined) await stayIn(page);
  for (const [name, text] of Object.entries({ ...action.fill, note: action.endpoint })) {
    await reach(page, dialog.locator(`[name=${name}]`));
    await page.keyboard.insertText(text);
  }
  await reach(page, dialog.locator('button[type=submit]'));
  await page.keyboard.press('Enter');
  // It closes by itself, or says what it has done.
  await dialog.locator('form').waitFor({ state: 'detached' });
  const said = (await dialog.allInnerTexts()).join('');
  if (said !== '') await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The focus is back where the action began, or at the heading if that is gone.
  await page.locator('button:focus, h1:focus').waitFor({ timeout: 10_000 });
  return said;
}

async function go(page: Page, at: ByKeyboard['at']): Promise<void> {
  if ('view' in at) {
    await reach(page, page.locator(`.top nav a[href$="${at.view}"]`));
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === at.view);
  } else {
    await reach(page, page.locator('.find input'));
    await page.keyboard.insertText(at.find);
    await page.keyboard.press('Enter');
    await page.waitForURL(
      (url) => !['/find'].includes(url.pathname) && url.href.includes(at.find.replace('/', '%2F')),
    );
  }
}

/** Tab goes round in the dialog, and never to what lies below it. */
async function stayIn(page: Page): Promise<void> {
  for (let presses = 0; presses < 6; presses += 1) {
    await page.keyboard.press('Tab');
    const isOut = await page.evaluate(
      `!document.activeElement.closest('dialog') && document.activeElement !== document.body`,
    );
    if (isOut === true) throw new Error('Tab left the dialog');
  }
}
