import { putInstallation } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import type { Kysely } from 'kysely';
import type { Database } from '../schema/tables.ts';

export const ACME = 90_000_001;
/**
 * The App of the rows, another one that is configured too, and one that was removed from the
 * configuration.
 */
export const [OWN, OTHER] = [1001, 1002];
const REMOVED = 999;
export const APP_IDS = [OWN, OTHER];
/** Of the rows; the entities' rows have the App's number instead. */
export const OLD_INSTALLATION = 51_000_001;

export interface Installed {
  readonly app: number;
  readonly minutes?: number;
  readonly state?: 'suspended' | 'deleted';
}

/** The known facts of the entity, and the installation that serves it. */
export const CASES: readonly (readonly [
  name: string,
  known: readonly Installed[],
  rowsApp: number,
  serving: number | undefined,
])[] = [
  ['the only App', [{ app: OWN }], OWN, OWN],
  [
    'its own App before one that was told of later',
    [{ app: OWN, minutes: 9 }, { app: OTHER }],
    OWN,
    OWN,
  ],
  [
    'the App that replaced its own, which is not configured',
    [{ app: REMOVED }, { app: OTHER, minutes: 9 }],
    REMOVED,
    OTHER,
  ],
  [
    'the App that works, beside its own that is suspended',
    [
      { app: OWN, state: 'suspended' },
      { app: OTHER, minutes: 9 },
    ],
    OWN,
    OTHER,
  ],
  [
    'the App that works, beside its own that was uninstalled',
    [
      { app: OWN, state: 'deleted' },
      { app: OTHER, minutes: 9 },
    ],
    OWN,
    OTHER,
  ],
  [
    'of two others the one told of last',
    [{ app: OWN, minutes: 9 }, { app: OTHER }],
    REMOVED,
    OTHER,
  ],
  ['no App, if the only one is suspended', [{ app: OWN, state: 'suspended' }], OWN, undefined],
  ['no App, if the only one was uninstalled', [{ app: OWN, state: 'deleted' }], OWN, undefined],
  ['no App, if the only one is not configured', [{ app: REMOVED }], REMOVED, undefined],
];

/** Stores the known facts of the entity. */
export const install = async (db: Kysely<Database>, known: readonly Installed[]): Promise<void> => {
  for (const { app, minutes = 0, state } of known) {
    const [suspended, deleted] = [state === 'suspended', state === 'deleted'].map((is) =>
      is ? new Date() : null,
    );
    await putInstallation(db, {
      entity_id: ACME,
      app_id: app,
      installation_id: app,
      suspended_at: suspended ?? null,
      deleted_at: deleted ?? null,
      stated_at: minutesAgo(minutes),
    });
  }
};
