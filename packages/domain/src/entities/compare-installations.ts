export interface ListedInstallation {
  readonly installationId: number;
  readonly entityId: number;
  readonly login: string;
  readonly selection: string;
  readonly isSuspended: boolean;
}

/** An installation in our rows. Its `selection` may be unknown. */
export interface KnownInstallation extends Omit<ListedInstallation, 'selection'> {
  readonly selection: string | null;
  readonly isDeleted: boolean;
}

export interface InstallationDifferences<
  L extends ListedInstallation,
  K extends KnownInstallation,
> {
  readonly changed: readonly L[];
  /** In our rows, but not listed: the caller asks GitHub, since that is no proof. */
  readonly unlisted: readonly K[];
}

/** Compares them with our rows, which were read before. A replaced installation never comes back. */
export function compareInstallations<L extends ListedInstallation, K extends KnownInstallation>(
  listed: readonly L[],
  known: readonly K[],
): InstallationDifferences<L, K> {
  const rows = new Map(known.map((row) => [row.entityId, row]));
  const ids = new Set(listed.map(({ installationId }) => installationId));
  return {
    changed: listed.filter((one) => isChanged(one, rows.get(one.entityId))),
    unlisted: known.filter(
      ({ isDeleted, installationId }) => !isDeleted && !ids.has(installationId),
    ),
  };
}

function isChanged(listed: ListedInstallation, row: KnownInstallation | undefined): boolean {
  if (row === undefined || row.isDeleted || listed.installationId > row.installationId) return true;
  if (listed.installationId < row.installationId) return false;
  return (
    listed.login !== row.login ||
    listed.selection !== row.selection ||
    listed.isSuspended !== row.isSuspended
  );
}
