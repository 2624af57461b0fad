// Sends a ping as GitHub signs it, and ends well if ingress has stored it.
/* oxlint-disable node/no-process-env -- a program, started by `helm test` alone */
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { WEBHOOK, APP_ID, SECRET_FILE, SECRET_ENV } = process.env;
const secret = (SECRET_FILE ? readFileSync(SECRET_FILE, 'utf8') : process.env[SECRET_ENV]).trim();
const body = JSON.stringify({
  zen: 'helm test',
  hook_id: 1,
  hook: { type: 'App', app_id: Number(APP_ID) },
});
const guid = randomUUID();
const answer = await fetch(WEBHOOK, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'x-github-event': 'ping',
    'x-github-delivery': guid,
    'x-github-hook-installation-target-type': 'integration',
    'x-github-hook-installation-target-id': APP_ID,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  },
  body,
});
console.log(`${WEBHOOK} answered ${answer.status} to ping ${guid}: ${await answer.text()}`);
process.exitCode = answer.status === 200 ? 0 : 1;
