import { sql } from 'kysely';

/**
 * SQL for two requests of one task, rows of `tasks` by these names: a payload that serves both. If
 * the other has `since`, the first one's with the earlier instant. Else the first one's: payloads
 * hold ids, and requests for one subject need the same. Instants are compared as text, as
 * programs write them; one by hand that is no instant must not stop the queue.
 */
export const mergedPayload = (one: string, other: string) => {
  const [a, b] = [sql.ref(`${one}.payload`), sql.ref(`${other}.payload`)];
  return sql`case when ${areMerged(one, other)} then ${a} || jsonb_build_object('since', least(${a} ->> 'since' collate "C", ${b} ->> 'since' collate "C")) else ${a} end`;
};

/** SQL: such a payload differs from the first one's. */
export const areMerged = (one: string, other: string) => {
  const [a, b] = [sql.ref(`${one}.payload`), sql.ref(`${other}.payload`)];
  return sql`(${b} ? 'since' and ${a} <> ${b})`;
};
