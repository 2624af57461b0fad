import type { Breaks } from './broken-rows.scene.ts';
import type { Installation } from './installation.scene.ts';

export const BOTH: Breaks = {
  'a webhook URL that leads to another installation': [
    /App 1001: its newest deliveries were answered well, and this database has none of them/,
    { act: (world) => deliver(world, 200) },
  ],
};

export const GITHUB: Breaks = {
  'a private key of another App': [
    /GitHub refuses its id with this private key .*compare both/,
    { github: { apps: [{ id: 1002, privateKey: { env: 'APP_KEY' } }] } },
  ],
  'a private key that is none': [
    /private key of GitHub App 1001 cannot be read: give the PEM file/,
    { environment: () => ({ APP_KEY: 'half of a PEM' }) },
  ],
  'an address where no GitHub is': [
    /App 1001: http:\/\/127\.0\.0\.1:1 cannot be asked: .*; check github\.apiUrl, and proxy, DNS/,
    { github: { apiUrl: 'http://127.0.0.1:1' } },
  ],
  'a GitHub that is busy': [
    /cannot be asked: Unicorn; .*or wait if GitHub is busy/,
    {
      act: ({ github }) => github.failNext({ ...ALL, status: 503, body: { message: 'Unicorn' } }),
      mend: ({ github }) => github.clearCallFaults(),
    },
  ],
  'an App that was deleted': [
    /GitHub refuses its id with this private key \(Integration not found\): compare both/,
    {
      act: ({ github }) =>
        github.failNext({ ...ALL, status: 404, body: { message: 'Integration not found' } }),
      mend: ({ github }) => github.clearCallFaults(),
    },
  ],
  'an organisation that lets in some addresses only': [
    /GitHub refuses App 1001 what is of acme .*: have an owner there add the addresses/,
    {
      act: ({ github }) => github.failNext({ ...ALL, path: '/access_tokens$', ...UNLISTED }),
      mend: ({ github }) => github.clearCallFaults(),
    },
  ],
  'a clock of this machine that is off by minutes': [
    /App 1001: the clock of this machine is ahead of GitHub's.*by NTP/,
    { aheadMs: 605_000 },
  ],
  'an App without the event workflow_job': [
    /not subscribed to the event workflow_job.*mend it at http/,
    {
      act: (world) => world.github.setApp(1001, { events: [] }),
      mend: (world) => world.github.setApp(1001, { events: ['workflow_job'] }),
    },
  ],
  'an App without a permission': [
    /lacks the permission actions: read.*mend it at http/,
    {
      act: (world) =>
        world.github.setApp(1001, { permissions: { ...PERMISSIONS, actions: 'none' } }),
      mend: (world) => world.github.setApp(1001, { permissions: PERMISSIONS }),
    },
  ],
  'an installation that has not accepted a permission': [
    /acme has not accepted its permissions \(actions: read\): an owner there accepts them at http/,
    {
      act: (world) => world.github.setApp(1001, { accepted: { ...PERMISSIONS, actions: 'none' } }),
      mend: (world) => world.github.setApp(1001, { accepted: null }),
    },
  ],
  'an App without a webhook URL': [
    /it has no webhook URL; mend it at http/,
    {
      act: (world) => world.github.setApp(1001, { webhookUrl: '' }),
      mend: (world) => world.github.setApp(1001, { webhookUrl: world.receiver.url }),
    },
  ],
  'an entity that has not installed the App': [
    /entities has acmee, where no App is installed: have an owner install it/,
    {
      level: 'remark',
      configure: (config) => ({
        ...config,
        entities: { ...config.entities, acmee: { maxWorkers: 1 } },
      }),
    },
  ],
  'a suspended installation': [
    /acme has suspended App 1001.*an owner there lifts that at http/,
    {
      act: (world) => world.github.suspend(world.installationId),
      mend: (world) => world.github.unsuspend(world.installationId),
    },
  ],
  'a webhook secret that differs': [
    /newest 3 deliveries failed \(401, .*: the webhook secret of the App differs/,
    { act: (world) => deliver(world, 401), mend: (world) => deliver(world, 200) },
  ],
  'a webhook URL that is redirected': [
    /newest 3 deliveries failed \(301, .*: the webhook URL only leads to another address/,
    { act: (world) => deliver(world, 301), mend: (world) => deliver(world, 200) },
  ],
  'an ingress that cannot be reached': [
    /newest 3 deliveries failed \(502, failed to connect to host\): check the webhook URL/,
    {
      async act(world) {
        await world.github.setApp(1001, { webhookUrl: 'http://127.0.0.1:1/webhooks/github' });
        await deliver(world, 200);
      },
      async mend(world) {
        await world.github.setApp(1001, { webhookUrl: world.receiver.url });
        await deliver(world, 200);
      },
    },
  ],
  'deliveries that are taken from GitHub’s log': [
    /App 1001: deliveries are taken from GitHub’s log, by up to 720 calls .*: 15000 are enough for 4260 jobs an hour; 14\d{3} are left until 20/,
    {
      level: 'remark',
      configure: (config) => ({ ...config, github: { ...config.github, intake: 'log' } }),
    },
  ],
  'a budget that is almost used up': [
    /GitHub leaves acme 12 of 5000 calls until 20.*: wait/,
    {
      level: 'remark',
      act: (world) => leave(world, 12),
      mend: (world) => leave(world, 5_000),
    },
  ],
};

const ALL = { path: '.', times: 1_000 };
const UNLISTED = {
  status: 403,
  body: {
    message:
      'the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
  },
};

const PERMISSIONS = {
  actions: 'read',
  administration: 'write',
  metadata: 'read',
  organization_self_hosted_runners: 'write',
};

/** Three deliveries that ingress answers so. */
async function deliver(world: Installation, status: number): Promise<void> {
  world.receiver.answerWith(status);
  const job = { repo: 'acme/api', labels: ['self-hosted'], durationMs: 1 };
  for (let n = 0; n < 3; n += 1) await world.github.queueJob(job);
  await world.github.settled();
}

const leave = (world: Installation, remaining: number) =>
  world.github.setRateLimit({
    caller: { installationId: world.installationId },
    resource: 'core',
    remaining,
    limit: 5_000,
    resetInMs: 600_000,
  });
