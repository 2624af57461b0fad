/** SQLSTATE, or the system's name for an error; of several attempts, that of the first. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/** SQLSTATE of an error that PostgreSQL raised. It has a digit; the system's EPIPE has none. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** The statement may be repeated: it lost against another (serialization failure, deadlock). */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(sqlStateOf(error) ?? '');

/** A unique constraint refused the row. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505';

/**
 * Repeating changes nothing: the data is at fault (class 22), breaks a constraint (23), or is more
 * than PostgreSQL can take, as a text that no index holds (54).
 */
export const isBadData = (error: unknown): boolean =>
  ['22', '23', '54'].includes(sqlStateOf(error)?.slice(0, 2) ?? '');

/**
 * PostgreSQL is away, full, read-only, shutting down or too slow; the statement itself is right. An
 * error without SQLSTATE comes from the connection (refused, reset, timed out).
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined) return true;
  return /^(08|53|55|57|58)|^(25006|28000|28P01|3D000)$/.test(state);
}

/** Of this machine: no file handle or no memory for a connection, or too many at the socket. */
const LOCAL_SHORTAGES = new Set<unknown>(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN']);

/** This machine lacks what one more connection needs. It says nothing about PostgreSQL. */
export const isLocalShortage = (error: unknown): boolean => LOCAL_SHORTAGES.has(codeOf(error));

/** One more connection cannot be opened, here or at PostgreSQL. Those that are open work on. */
export const isShortage = (error: unknown): boolean =>
  isLocalShortage(error) || sqlStateOf(error)?.startsWith('53') === true;

/** PostgreSQL refuses our login, as for a password that has changed. Sessions that are open work on. */
export const isRefusal = (error: unknown): boolean => sqlStateOf(error)?.startsWith('28') === true;

/**
 * The connection to PostgreSQL is gone, takes no writes, or cannot be opened: no SQLSTATE, a
 * connection exception, the server's shutdown or start, or a read-only session. False where
 * PostgreSQL refused a statement, and for a shortage. Only for errors of node-postgres: its own
 * mistakes are TypeErrors and RangeErrors.
 */
export function saysAway(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined)
    return !(error instanceof TypeError || error instanceof RangeError || isLocalShortage(error));
  return state.startsWith('08') || state.startsWith('57P') || state === '25006';
}

/** The same statement may succeed in a moment: PostgreSQL, not its data, is what stands in its way. */
export const mayPass = (error: unknown): boolean =>
  saysAway(error) || isConflict(error) || (sqlStateOf(error) !== undefined && isUnavailable(error));

/** Does work again while it fails in this way, as after a lost race; `tries` times at most. */
export async function retried<T>(
  work: () => Promise<T>,
  isLost: (error: unknown) => boolean,
  tries = Infinity,
): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left <= 1 || !isLost(error)) throw error;
    }
  }
}
