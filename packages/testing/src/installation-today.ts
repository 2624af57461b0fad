import { minutesAgo, putInstallation } from './demand-rows.ts';
import type { Db } from '@paddock/db/schema/tables';

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

const before = (app: number): Installed => ({ app, minutes: 9 });

/** The known facts of the entity, the App of its rows, and the App that serves it. */
export const CASES: readonly (readonly [
  string,
  readonly Installed[],
  number,
  number | undefined,
])[] = [
  ['the only App', [{ app: OWN }], OWN, OWN],
  ['its own App before one that was told of later', [before(OWN), { app: OTHER }], OWN, OWN],
  ['the App that replaced one not configured', [{ app: REMOVED }, before(OTHER)], REMOVED, OTHER],
  ['the App that works', [{ app: OWN, state: 'suspended' }, before(OTHER)], OWN, OTHER],
  ['of two others the one told of last', [before(OWN), { app: OTHER }], REMOVED, OTHER],
  ['no App, if the only one was uninstalled', [{ app: OWN, state: 'deleted' }], OWN, undefined],
];

/** Stores the known facts of the entity. */
export const install = async (db: Db, known: readonly Installed[]): Promise<void> => {
  for (const { app, minutes = 0, state } of known) {
    await putInstallation(db, {
      entity_id: ACME,
      app_id: app,
      installation_id: app,
      suspended_at: state === 'suspended' ? new Date() : null,
      deleted_at: state === 'deleted' ? new Date() : null,
      stated_at: minutesAgo(minutes),
    });
  }
};
