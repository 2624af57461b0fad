// A program as the services are: it calls GitHub with the proxies and certificates of its
// environment, and prints the App's name.
import { NO_WAITS } from '@paddock/testing/stand-ins';
import { connectGitHub } from '@paddock/github/connect';
import { getApp } from '@paddock/github/installations';

const [, , apiUrl = '', appId = '', privateKey = ''] = process.argv;
const github = connectGitHub({
  apiUrl,
  apps: [{ appId: Number(appId), privateKey }],
  waits: NO_WAITS,
  requestTimeoutMs: 20_000,
});
process.stdout.write(`${JSON.stringify(await getApp(github.asApp(Number(appId))))}\n`);
