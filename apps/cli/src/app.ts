import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '@paddock/domain/pools/config-file';
import { type CreatedApp, formFor, type NewApp, receiveApp } from '@paddock/github/create-app';
import { classifyGitHubError } from '@paddock/github/errors';
import { readGitHubSection } from '@paddock/github/follow-keys';
import { createApp, listenHttp } from '@paddock/runtime/http-server';
import { pause } from '@paddock/runtime/pause';
import { stringify } from 'yaml';
import { askApp, connectForPerson } from './ask-apps.ts';
import { NoAnswer } from './asker.ts';
import { type Command, type Given, JSON_OPTION, WrongUsage } from './command.ts';

export const appCheck: Command = {
  name: 'app check',
  takes: 'FILE',
  summary: `Asks GitHub what the Apps of a configuration file lack: key, permissions, events, webhook, and what
an owner of an account has to accept, with the address where. Reads their private keys, and changes
nothing.`,
  options: { json: JSON_OPTION },
  async run({ words: [file = ''], options, environment }) {
    const problems: string[] = [];
    const section = readGitHubSection(file, environment, problems);
    if (section !== undefined && problems.length === 0) {
      const github = connectForPerson(section);
      for (const appId of github.appIds)
        problems.push(...(await askApp(github, section, appId)).problems);
    }
    const isGood = problems.length === 0;
    const apps = section?.apps.map(({ appId }) => appId) ?? [];
    const said = options['json']
      ? JSON.stringify({ file, apps, problems })
      : isGood
        ? `App ${apps.join(', ')}: nothing is lacking.`
        : problems.join('\n');
    return { code: isGood ? 0 : 1, stdout: `${said}\n`, stderr: '' };
  },
};

export const LONGEST_NAME = 34;
const LONGEST_WAIT_MS = 900_000;
export const KEY_FILE = 'private-key.pem';
export const SECRET_FILE = 'webhook-secret';

export const appCreate: Command = {
  name: 'app create',
  takes: 'NAME',
  summary: `Makes the GitHub App, with the rights that Paddock needs. GitHub asks you in a browser of this
machine, and the credentials come here: as a Secret on the output, for \`kubectl apply -f -\`, or with
--dir as files.`,
  options: {
    'webhook-url': { value: 'URL', doc: 'Where ingress is reached: https://paddock.example.com' },
    org: { value: 'LOGIN', doc: 'The organisation that owns the App; without it, you' },
    public: { doc: 'Other organisations and users may install it' },
    repositories: { doc: 'For pools with `registration: repository`, too' },
    dir: { value: 'DIR', doc: 'Writes the credentials into files there' },
    secret: { value: 'NAME', doc: 'The name of the Secret; paddock-github without it' },
    'api-url': { value: 'URL', doc: 'https://HOST/api/v3 of an Enterprise Server' },
    port: { value: 'PORT', doc: 'Where the browser finds this program; a free one without it' },
  },
  async run(given) {
    const { app, dir, secret, ...where } = readOptions(given);
    const { terminal } = given;
    if (terminal === undefined)
      return { code: 1, stdout: '', stderr: 'Nobody can be told which page to open.\n' };
    const tell = (text: string) => void terminal.notes.write(text);
    try {
      const created = await makeApp(app, { ...where, dir, tell });
      const stdout = dir === undefined ? asSecret(secret, created) : '';
      return { code: 0, stdout, stderr: whatNow(app, created, dir) };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { code: 1, stdout: '', stderr: `${error.message}\n` };
    }
  },
};

interface Where {
  readonly apiUrl: string;
  readonly port: number;
  readonly tell: (text: string) => void;
}

/**
 * Makes the App, and writes its credentials into `dir`, if there is one. Throws a WrongUsage if they
 * cannot be written there, and a NoAnswer if no App is made.
 */
export async function makeApp(
  app: NewApp,
  { dir, ...where }: Where & { readonly dir: string | undefined },
): Promise<CreatedApp> {
  // GitHub gives the credentials once: what cannot be written must be known before.
  const files = dir === undefined ? undefined : reserve(dir);
  try {
    const created = await askInBrowser(app, where);
    if (files !== undefined) {
      writeFileSync(files.key, created.privateKey.reveal());
      writeFileSync(files.secret, created.webhookSecret.reveal());
    }
    return created;
  } catch (error) {
    for (const file of Object.values(files ?? {})) rmSync(file);
    throw error;
  }
}

function readOptions({ words: [name = ''], options, terminal }: Given) {
  const text = (option: string): string | undefined =>
    options[option] === undefined ? undefined : String(options[option]);
  if (name.length > LONGEST_NAME)
    throw new WrongUsage(`GitHub allows an App's name ${LONGEST_NAME} characters.`);
  const organization = text('org');
  if (organization !== undefined && !/^[\w-]+$/.test(organization))
    throw new WrongUsage(
      '--org must be the login of an organisation, as in its address at GitHub.',
    );
  const dir = text('dir');
  if (dir === undefined && terminal?.output.isTTY === true)
    throw new WrongUsage(
      'The credentials would be shown here: write them into files with --dir DIR, or into the cluster with `| kubectl apply -n paddock -f -`.',
    );
  const port = Number(text('port') ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new WrongUsage('--port must be a number up to 65535.');
  const app: NewApp = {
    name,
    webhookUrl: webhookOf(text('webhookUrl')),
    organization,
    isPublic: options['public'] === true,
    served: {
      onOrganizations: organization !== undefined || options['public'] === true,
      onUsers: organization === undefined,
      atRepositories: options['repositories'] === true,
    },
  };
  const apiUrl = urlOf(text('apiUrl') ?? 'https://api.github.com', '--api-url').href;
  return {
    apiUrl: apiUrl.replace(/\/+$/, ''),
    port,
    dir,
    secret: text('secret') ?? 'paddock-github',
    app,
  };
}

export function urlOf(given: string, option: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))) return url;
  throw new WrongUsage(`${option} must be an address that begins with https://.`);
}

/** The path may be left out: ingress has one place for deliveries. */
export function webhookOf(given: string | undefined): string {
  if (given === undefined)
    throw new WrongUsage('--webhook-url is missing: where GitHub reaches ingress.');
  const url = urlOf(given, '--webhook-url');
  if (url.pathname === '/') url.pathname = '/webhooks/github';
  return url.href;
}

/** Makes the files, for the owner's eyes only. Throws a WrongUsage where credentials are in one. */
function reserve(dir: string): { readonly key: string; readonly secret: string } {
  const files = { key: join(dir, KEY_FILE), secret: join(dir, SECRET_FILE) };
  try {
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o700 });
    for (const file of Object.values(files)) {
      // An empty one is of a run that was ended.
      if (existsSync(file) && statSync(file).size > 0) throw new Error(`${file} is there already`);
      writeFileSync(file, '', { mode: 0o600 });
    }
    return files;
  } catch (error) {
    throw new WrongUsage(
      `The credentials cannot be written into ${dir}: ${(error as Error).message}. Name another folder.`,
    );
  }
}

/**
 * Serves a page that sends the browser to GitHub, and waits until GitHub has sent it back. Throws a
 * NoAnswer if GitHub refuses, or nobody comes.
 */
async function askInBrowser(app: NewApp, { apiUrl, port, tell }: Where): Promise<CreatedApp> {
  const state = randomBytes(16).toString('hex');
  const coming = Promise.withResolvers<string>();
  const pages = createApp();
  pages.get('/', (request, response) => {
    const redirectUrl = `http://${request.headers.host}/created`;
    const { action, manifest } = formFor(app, { apiUrl, redirectUrl, state });
    response.type('html').send(
      page(
        `<form method="post" action="${escaped(action)}"><input type="hidden" name="manifest" value="${escaped(manifest)}">
<p>GitHub at ${escaped(new URL(action).host)} will ask whether to make the App <b>${escaped(app.name)}</b>.</p><button>Go to GitHub</button></form>`,
      ),
    );
  });
  pages.get('/created', (request, response) => {
    const { code, state: given } = request.query;
    if (given !== state || typeof code !== 'string') {
      response.status(400).type('html').send(page('<p>This is no answer to what was asked.</p>'));
      return;
    }
    response.type('html').send(page('<p>Done. The terminal says what comes next.</p>'));
    coming.resolve(code);
  });
  const http = await listenHttp(pages, { port, host: '127.0.0.1' });
  tell(
    `Open http://127.0.0.1:${http.port}/ in a browser of this machine, signed in to GitHub as ${app.organization === undefined ? 'yourself' : `an owner of ${app.organization}`}.\n`,
  );
  const found = new AbortController();
  try {
    const code = await Promise.race([
      coming.promise,
      pause(LONGEST_WAIT_MS, found.signal).then(() => undefined),
    ]);
    if (code === undefined)
      throw new NoAnswer('Nobody came back from GitHub within 15 minutes: nothing was made.');
    return await receiveApp(apiUrl, code).catch((error: unknown) => {
      const { message } = classifyGitHubError(error);
      throw new NoAnswer(
        `GitHub has made the App, and does not give its credentials (${message}): delete the App on its page at GitHub, and try again.`,
      );
    });
  } finally {
    found.abort();
    http.server.closeIdleConnections();
    await http.close();
  }
}

const page = (main: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>A GitHub App for Paddock</title><body><main>${main}</main></body></html>`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };
const escaped = (text: string): string =>
  text.replaceAll(/[&<"]/g, (character) => ENTITIES[character] ?? '');

const asSecret = (name: string, { privateKey, webhookSecret }: CreatedApp): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData: { [SECRET_FILE]: webhookSecret.reveal(), [KEY_FILE]: privateKey.reveal() },
  });

function whatNow({ organization }: NewApp, { appId, url }: CreatedApp, dir?: string): string {
  const [webhook, key] =
    dir === undefined ? ['/etc/paddock/webhook', '/etc/paddock/app'] : [dir, dir];
  return `GitHub has made the App ${appId}. Name it in the configuration file:

github:
  apps:
    - id: ${appId}
      webhookSecret: { file: ${join(webhook, SECRET_FILE)} }
      privateKey: { file: ${join(key, KEY_FILE)} }

Then install it, for ${organization ?? 'yourself'} and each account that you serve:
${url}/installations/new
`;
}
