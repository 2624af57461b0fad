import { createHmac } from 'node:crypto';

export const SECRET = 'a secret';

/** Of a ping to App 7, signed. */
export const headersFor = (body: string, changes: Record<string, string> = {}) => ({
  'x-github-event': 'ping',
  'x-github-delivery': 'guid-1',
  'x-github-hook-installation-target-id': '7',
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  ...changes,
});
