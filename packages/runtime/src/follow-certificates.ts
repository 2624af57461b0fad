import { type EventLog, line, tellEvents } from './events.ts';
import { readText } from './file-reading.ts';
import type { Metrics } from './metrics.ts';
import { every } from './pause.ts';
import type { Environment } from './settings.ts';

const EVERY_MS = 5_000;

const TABLE = {
  certificatesChanged: (path: string) =>
    line.warn('the file of NODE_EXTRA_CA_CERTS has changed: restart the service to trust it', {
      path,
    }),
};

/** Node.js reads NODE_EXTRA_CA_CERTS at its start only. This says that the file has changed since. */
export function followCertificates(
  { NODE_EXTRA_CA_CERTS: path = '' }: Environment,
  told: { readonly log: EventLog; readonly metrics: Metrics },
) {
  const { certificatesChanged } = tellEvents(TABLE, told);
  const read = (): string | undefined => {
    try {
      return path === '' ? undefined : readText(path);
    } catch {
      return undefined; // Node.js has warned of it, or somebody is writing it
    }
  };
  const inForce = read();
  let hasChanged = false;
  return {
    warning: (): string | undefined =>
      hasChanged
        ? `the file of NODE_EXTRA_CA_CERTS, ${path}, has changed: restart the service to trust it`
        : undefined,
    run: every(EVERY_MS, () => {
      const text = read();
      const isChanged = text !== undefined && text !== inForce;
      if (isChanged && !hasChanged) certificatesChanged(path);
      hasChanged = isChanged;
    }),
  };
}
