/* oxlint-disable node/no-process-env -- a program, which has no other input */
import { startGitHubSimulator } from '../github/start-github-simulator.ts';

/**
 * Runs the simulated GitHub in a pod, with one organisation that has installed one App. The
 * environment has the App, and where the others reach this GitHub.
 */
const {
  APP_ID = '',
  PUBLIC_KEY = '',
  WEBHOOK_SECRET = '',
  WEBHOOK_URL = '',
  GITHUB_URL = '',
  PADDOCK_HTTP_HOST = '127.0.0.1',
} = process.env;
const appId = Number(APP_ID);
const port = Number(new URL(GITHUB_URL).port);
const github = await startGitHubSimulator({
  apps: [
    { appId, publicKeyPem: PUBLIC_KEY, webhookSecret: WEBHOOK_SECRET, webhookUrl: WEBHOOK_URL },
  ],
  host: PADDOCK_HTTP_HOST,
  port,
  url: GITHUB_URL,
});
process.on('SIGTERM', () => void github.stop());
await github.addOrganization({ login: 'acme' });
await github.addRepository({ owner: 'acme', name: 'shop', private: true });
await github.install({ appId, account: 'acme', announce: false });
console.log(JSON.stringify({ message: 'listening', port }));
