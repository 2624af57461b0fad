import { describe, expect, test } from '@jest/globals';
import { Secret } from '@paddock/runtime/secret';
import { createAppKey } from '@paddock/simulators/github/app-key';
import type { SimulatedApp } from '@paddock/simulators/github/world';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { useFolder } from '@paddock/testing/use-folder';
import { waitFor } from '@paddock/testing/wait-for';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAppChecks } from './check-apps.ts';
import type { AppChange } from './follow-apps.ts';
import { followKeys, readGitHubSection, revealed } from './follow-keys.ts';
import { getApp } from './installations.ts';
import { useSmallWorld } from './scenes/small-world.scene.ts';

let ahead = 0;
const now = () => Date.now() + ahead;
const small = useSmallWorld(undefined, () => ({ now }));
const running = new AbortController().signal;

const RIGHT: Partial<SimulatedApp> = {
  publicKeyPem: sharedAppKey().publicKeyPem,
  permissions: {
    actions: 'read',
    administration: 'write',
    organization_self_hosted_runners: 'write',
  },
  accepted: null,
  events: ['workflow_job'],
  webhookUrl: null,
};

describe('what GitHub says of an App', () => {
  const AT = '; mend it at http://[^ ]+/organizations/simulated-owner/settings/apps/paddock-1234';
  test.each<[string, Partial<SimulatedApp>, number]>([
    [`it is not subscribed to the event workflow_job: .*${AT}/permissions`, { events: [] }, 0],
    [
      `it lacks the permission actions: read, .*${AT}/permissions`,
      { permissions: { ...RIGHT.permissions, actions: 'none' } },
      0,
    ],
    [
      String.raw`[^ ]+ has not accepted its permissions \(organization_self_hosted_runners: write\): an owner there accepts them at http://[^ ]+/settings/installations/\d+$`,
      { accepted: { ...RIGHT.permissions, organization_self_hosted_runners: 'read' } },
      0,
    ],
    [`it has no webhook URL${AT}`, { webhookUrl: '' }, 0],
    [
      'GitHub refuses its id with this private key .*: compare both',
      { publicKeyPem: createAppKey().publicKeyPem },
      0,
    ],
    ["the clock of this machine is ahead of GitHub's by", {}, 3_600_000],
    ["the clock of this machine is behind GitHub's by", {}, -3_600_000],
  ])('is said once, until it is mended: %s (H1)', async (said, wrong, skewMs) => {
    const { simulator, world, github } = small;
    ahead = skewMs;
    const told: (readonly string[])[] = [];
    const onProblems = (_appId: number, problems: readonly string[]) => void told.push(problems);
    const checks = createAppChecks({ github, atRepositories: () => false, onProblems, now });
    await simulator.setApp(world.appId, wrong);
    await checks.look(running);
    await checks.look(running);
    expect(told).toEqual([[expect.stringMatching(`^App 1234: ${said}`)]]);
    expect(checks.warning()).toBe(told[0]?.join());
    await simulator.setApp(world.appId, RIGHT);
    ahead = 0;
    checks.forget(world.appId);
    await checks.look(running);
    expect(checks.warning()).toBeUndefined();
  });
});

describe('the file of Apps while a service runs (B2)', () => {
  const folder = useFolder();

  test('brings another apiUrl into force, and a wrong one never, also if PostgreSQL is away meanwhile', async () => {
    const configPath = join(folder, 'paddock.yaml');
    const { world, simulator } = small;
    const write = (apiUrl: string) => {
      const apps = [{ id: world.appId, privateKey: { env: 'KEY' } }];
      writeFileSync(configPath, JSON.stringify({ github: { apiUrl, apps } }));
    };
    const environment = { KEY: world.privateKeyPem };
    const problems: string[] = [];
    write('http://127.0.0.1:1');
    const section = readGitHubSection(configPath, environment, problems);
    if (section === undefined) throw new Error(problems.join());
    const github = small.connect({ ...section, apps: section.apps.map(revealed) });
    const changes: AppChange[] = [];
    const refused: (readonly string[])[] = [];
    let failed = 0;
    const events = {
      refused: (why: readonly string[]) => void refused.push(why),
      accepted: () => undefined,
      notTaken: () => void failed++,
      changed: (change: AppChange) => void changes.push(change),
      unfit: () => undefined,
    };
    const config = { configPath, github: section, databaseUrl: new Secret('x') };
    const news: number[] = [];
    const onNews = (appId: number) =>
      failed === 0
        ? Promise.reject(new Error('PostgreSQL is away'))
        : Promise.resolve(void news.push(appId));
    const keys = followKeys({ config, environment, github, events, onNews });
    await keys.look();
    write('http://github.example.com');
    await keys.look();
    expect(refused).toEqual([[expect.stringContaining('must begin with https://')]]);
    write(simulator.url);
    const stop = new AbortController();
    const run = keys.run(stop.signal);
    await waitFor('a failure', () => failed === 1);
    await keys.look();
    stop.abort();
    await run;
    expect(news).toEqual([world.appId]);
    expect(changes).toEqual([{ appId: world.appId, change: 'address' }]);
    expect(await getApp(github.asApp(world.appId))).toMatchObject({ events: ['workflow_job'] });
  });
});
