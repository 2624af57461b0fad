import { noteAway, noteBack, type Reaches } from '@paddock/db/outages';
import type { Db } from '@paddock/db/schema/tables';
import { createReach, type Probe, type Service } from '@paddock/runtime/reach';

export interface ImpatientReaches extends Reaches {
  /** Probes what is away, as a service does each second, and waits until the row says the result. */
  probeAgain(): Promise<void>;
}

/**
 * Reaches whose probes need no second between them, so that a test with many failures waits for
 * nothing.
 */
export function impatientReaches(
  db: Db,
  probes: Readonly<Record<Service, Probe>>,
): ImpatientReaches {
  let shared: Promise<unknown> = Promise.resolve();
  const reachOf = (service: Service, row: string) =>
    createReach({
      probe: probes[service],
      onAway: () => undefined,
      onBack: () => undefined,
      share: (message) =>
        (shared = message === undefined ? noteBack(db, row) : noteAway(db, row, message)),
      pause: () => Promise.resolve(),
    });
  const reaches = { github: reachOf('github', 'github'), cluster: reachOf('cluster', 'default') };
  return {
    ...reaches,
    async probeAgain() {
      for (const reach of [reaches.github, reaches.cluster]) {
        if (reach.isAway()) await reach.report();
        // The word is passed on after the report.
        await new Promise(setImmediate);
        await shared;
      }
    },
  };
}
