import type { FailedDelivery } from '../answers.ts';
import type { Step } from '../parts/bulk.ts';

/** How GitHub saw our answer. */
export const codeOf = ({ lastStatusCode }: Pick<FailedDelivery, 'lastStatusCode'>): string =>
  lastStatusCode === 0 ? 'no answer' : `answer ${lastStatusCode}`;

/** To have one repeated. Undefined: it has no GUID, by which GitHub would find it. */
export const redeliver = ({ guid, event }: FailedDelivery): Step | undefined =>
  guid === null
    ? undefined
    : {
        name: `${event} ${guid}`,
        method: 'POST',
        path: `/deliveries/${encodeURIComponent(guid)}/redeliver`,
      };
