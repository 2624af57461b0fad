/** An installation of an App on an entity, as GitHub lists it. */
export interface ListedInstallation {
  readonly installationId: number;
  readonly entityId: number;
  readonly login: string;
  readonly selection: string;
  readonly isSuspended: boolean;
}

/** The same as our row says; `selection` may be unknown. */
export interface KnownInstallation extends Omit<ListedInstallation, 'selection'> {
  readonly selection: string | null;
  readonly isDeleted: boolean;
}

export interface InstallationDifferences<L extends ListedInstallation, K extends KnownInstallation> {
  /** What GitHub lists and our rows do not say. */
  readonly changed: readonly L[];
  /** What our rows say is installed and GitHub does not list: to be asked about one by one, for a list's silence ends nothing. */
  readonly unlisted: readonly K[];
}

/** Compares an App's installations with our rows (A12). A deleted or replaced installation never comes back: its id is old news. */
export function compareInstallations<L extends ListedInstallation, K extends KnownInstallation>(
  listed: readonly L[],
  known: readonly K[],
): InstallationDifferences<L, K> {
  const rows = new Map(known.map((row) => [row.entityId, row]));
  const ids = new Set(listed.map(({ installationId }) => installationId));
  return {
    changed: listed.filter((one) => isNews(one, rows.get(one.entityId))),
    unlisted: known.filter(({ isDeleted, installationId }) => !isDeleted && !ids.has(installationId)),
  };
}

function isNews(listed: ListedInstallation, row: KnownInstallation | undefined): boolean {
  if (row === undefined || listed.installationId > row.installationId) return true;
  if (listed.installationId < row.installationId || row.isDeleted) return false;
  return listed.login !== row.login || listed.selection !== row.selection || listed.isSuspended !== row.isSuspended;
}
