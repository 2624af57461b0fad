import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { type InstallationFacts, tellInstallation } from '@paddock/domain/why/tell-installation';

interface Installation extends Pick<InstallationFacts, 'state'> {
  readonly id: number;
  readonly app: number;
  readonly entity: { readonly id: number; readonly login: string };
}

/** What follows, by its row, its jobs and its workers. Those that live are few. */
export async function tellWhatFollows(
  db: Db,
  { id, state, entity, app }: Installation,
): Promise<string[]> {
  const rows = await rowsOf<Omit<InstallationFacts, 'state' | 'login' | 'usedUp'>>(db)`
    select (select count(*) from jobs where installation_id = ${id} and status in ('pending', 'running') and wants_worker) as waiting,
      (select refused_message from installations where entity_id = ${entity.id} and app_id = ${app}) as refusal,
      count(assigned_at) as busy, count(*) - count(assigned_at) as idle
    from workers where entity_id = ${entity.id} and installation_id = ${id} and ${LIVE}`;
  const usedUp = await rowsOf<InstallationFacts['usedUp'][number]>(db)`
    select what, until, message from installations cross join lateral (values ('calls', wait_until, wait_message), ('calls of sweeps', core_wait_until, null),
      ('registrations of runners', case when registrations_left = 0 then registrations_reset_at end, null)) told (what, until, message)
    where entity_id = ${entity.id} and app_id = ${app} and until > now()`;
  return rows.flatMap((row) => tellInstallation({ ...row, usedUp, state, login: entity.login }));
}
