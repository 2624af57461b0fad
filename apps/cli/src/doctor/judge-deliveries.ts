import type { WebhookDelivery } from '@paddock/github/deliveries';

type Attempt = Pick<WebhookDelivery, 'status' | 'statusCode'>;

/** This many in a row need a person; fewer may pass. */
export const SURELY = 3;

/** What GitHub's answers from our endpoint mean, by their status. 0: no answer came. */
const CAUSES: Readonly<Record<number, string>> = {
  400: 'set the content type of the webhook to application/json',
  401: 'the webhook secret of the App differs from that of ingress, or ingress has no such App: give both the same',
  404: 'the webhook URL has another path: it ends with /webhooks/github',
  405: 'the webhook URL leads elsewhere: it ends with /webhooks/github of ingress',
  408: 'the way to ingress is too slow: look at the proxies before it',
  413: 'a proxy before ingress takes no bodies of that size: let it take 25 MB',
  503: 'ingress can store none: its readiness says why',
};

const UNREACHED =
  'check the webhook URL, its name in the DNS, its certificate, and what stands before ingress';

/**
 * What the newest attempts in the App's log come to, the newest first; undefined: the newest got
 * through.
 */
export function judgeDeliveries(
  attempts: readonly Attempt[],
): { readonly sentence: string; readonly isSure: boolean } | undefined {
  const [newest] = attempts;
  if (newest === undefined || gotThrough(newest)) return undefined;
  const { status, statusCode } = newest;
  const other = attempts.findIndex((one) => one.statusCode !== statusCode);
  const alike = other === -1 ? attempts.length : other;
  const until = attempts.findIndex(gotThrough);
  const what = alike === 1 ? 'the newest delivery' : `the newest ${alike} deliveries`;
  const answer = statusCode === 0 ? status : `${statusCode}, ${status}`;
  return {
    sentence: `${what} failed (${answer}): ${CAUSES[statusCode] ?? UNREACHED}`,
    isSure: (until === -1 ? attempts.length : until) >= SURELY,
  };
}

export const gotThrough = ({ statusCode }: Pick<Attempt, 'statusCode'>): boolean =>
  statusCode >= 200 && statusCode < 400;
