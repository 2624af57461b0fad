import express, { type Request, type Response, Router } from 'express';
import { randomText } from '../random.ts';
import { createAppKey } from './app-key.ts';
import { appJson } from './routes-app.ts';
import { isoNow, nextId, type Payload, type SimulatedApp, type World } from './world.ts';

/**
 * Where a person has an App made from a manifest, and the caller gets its credentials:
 * https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
export function manifestFlow(world: World): Router {
  const pages = Router();
  const manifests = new Map<string, Payload>();
  pages.use(express.urlencoded());
  for (const owner of ['', '/organizations/:org']) {
    pages.post(`${owner}/settings/apps/new`, (request: Request<{ org?: string }>, response) => {
      const { org } = request.params;
      if (org !== undefined && !world.accounts.has(org.toLowerCase())) {
        response.status(404).send('Not Found');
        return;
      }
      response.type('html').send(askPerson(request));
    });
    pages.post(`${owner}/settings/apps`, (request, response) => {
      const manifest = JSON.parse(String(request.body.manifest)) as Payload;
      const code = randomText(8);
      manifests.set(code, manifest);
      const back = new URL(String(manifest['redirect_url']));
      back.searchParams.set('code', code);
      back.searchParams.set('state', stateOf(request));
      response.redirect(back.href);
    });
  }
  const convert = ({ params: { code } }: Request<{ code: string }>, response: Response): void => {
    const manifest = manifests.get(code);
    manifests.delete(code);
    if (manifest === undefined) response.status(404).json({ message: 'Not Found' });
    else response.status(201).json(makeApp(world, manifest));
  };
  pages.post('/app-manifests/:code/conversions', convert);
  pages.post('/api/v3/app-manifests/:code/conversions', convert);
  return pages;
}

type Asked = Pick<Request, 'body' | 'originalUrl'>;

const stateOf = ({ originalUrl }: Pick<Request, 'originalUrl'>): string =>
  new URL(originalUrl, 'http://github').searchParams.get('state') ?? '';

function askPerson(asked: Asked): string {
  const manifest = String(asked.body.manifest).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const action = asked.originalUrl.replace(/\/new\?.*/, `?state=${stateOf(asked)}`);
  return `<!doctype html><title>Register new GitHub App</title><form method="post" action="${action}">
<input type="hidden" name="manifest" value="${manifest}"><button>Create GitHub App</button></form>`;
}

function makeApp(world: World, manifest: Payload): Payload {
  const { privateKeyPem: pem, publicKeyPem } = createAppKey();
  const hook = manifest['hook_attributes'] as { url: string };
  const app: SimulatedApp = {
    appId: nextId(world, 'app'),
    slug: String(manifest['name'])
      .toLowerCase()
      .replaceAll(/[^a-z\d]+/g, '-'),
    publicKeyPem,
    webhookSecret: randomText(20),
    webhookUrl: hook.url,
    permissions: manifest['default_permissions'] as Record<string, string>,
    accepted: null,
    events: manifest['default_events'] as string[],
    createdAt: isoNow(world),
  };
  world.apps.set(app.appId, app);
  const client = { client_id: `Iv23${app.appId}`, client_secret: randomText(20) };
  return { ...appJson(world, app), ...client, webhook_secret: app.webhookSecret, pem };
}
