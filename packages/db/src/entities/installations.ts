import type { InstallationStatement } from '@paddock/domain/deliveries/installation-event';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { preparedText } from '../connection/prepared.ts';
import { rowsOf } from '../rows.ts';
import type { Db, EntityType, Trx } from '../schema/tables.ts';
import type { KnownInstallation } from '@paddock/domain/entities/compare-installations';
import { appendEvents } from '../events/append-events.ts';
import type { NamedEntity } from '@paddock/domain/pools/entities';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

/**
 * Pins these entities' logins that the pools document in force names: the first entity keeps a
 * login. Returns the ids of entities that `entities` of the document admits by a login of another
 * entity. A login that only a pool names closes that pool to the entity.
 *
 * Call it before the transaction locks anything else. It keeps others from writing installations
 * until the transaction ends: the statement for jobs pins logins too, and would deadlock with us.
 */
export async function pinLogins(
  trx: Trx,
  entities: readonly NamedEntity[],
): Promise<ReadonlySet<number>> {
  await lockInstallations(trx);
  if (entities.length === 0) return new Set();
  const rows = await rowsOf<{ id: number; owner: number; isListed: boolean }>(trx)`
    with document as materialized ${DOCUMENT_IN_FORCE},
    listed as materialized (select lower(key) as key from document, jsonb_object_keys(content -> 'entities') key),
    named as materialized (
      select lower(split_part(one, '/', 1)) as login
      from document, jsonb_array_elements(content -> 'pools') pool,
        jsonb_array_elements_text(coalesce(pool -> 'entities', '[]') || coalesce(pool -> 'repositories', '[]')) one
    ), given as (
      select id, lower(login) as login, position
      from rows from (json_to_recordset(${JSON.stringify(entities)}::json) as (id bigint, login text)) with ordinality as given(id, login, position)
    )
    select id, pin_login(login, id) as owner, is_listed as "isListed" from (
      select id, login, is_listed
      from given cross join lateral (
        select login in (select key from listed) and 'id:' || id not in (select key from listed) as is_listed) admission
      where is_listed or login in (select login from named) order by login, position
    ) pinnable`;
  return new Set(rows.flatMap(({ id, owner, isListed }) => (isListed && id !== owner ? [id] : [])));
}

/** For a WHERE: the login of this row of `installations` is not pinned to another entity. */
export const bearsOwnLogin = (alias: string): RawBuilder<boolean> => sql`not exists (
  select from login_pins p where p.login = lower(${sql.ref(`${alias}.login`)}) and p.entity_id <> ${sql.ref(`${alias}.entity_id`)})`;

/** For an ORDER BY: this row of `installations` is of the entity to which its login is pinned. */
export const isPinned = (alias: string): RawBuilder<boolean> => sql`exists (
  select from login_pins p where p.login = lower(${sql.ref(`${alias}.login`)}) and p.entity_id = ${sql.ref(`${alias}.entity_id`)})`;

/** GitHub's statement about a whole installation. */
export interface InstallationToStore extends InstallationStatement {
  readonly appId: number;
}

/** When the login of row `e` was stated: an older statement does not change it. */
const NAMED_AT = 'greatest(e.stated_at, e.login_stated_at)';

/**
 * Stores statements about installations, in their order. For one entity and App, a later
 * installation replaces an earlier one, and otherwise the later statement wins. A deletion is final
 * for what was stated before we learnt of it, as its own instant is that of an earlier change. The
 * higher id is the later one, unless it was deleted before the other was stated. Of two with one
 * instant the second wins: GitHub states a suspension and its end within a second. So callers leave
 * out repeated deliveries. The end of a suspension states the instant of its beginning: it wins over
 * a list that GitHub gave in between.
 */
export async function storeInstallations(
  trx: Trx,
  statements: readonly InstallationToStore[],
): Promise<void> {
  const sorted = statements.toSorted((a, b) => a.entity.id - b.entity.id || a.appId - b.appId);
  for (const {
    appId,
    entity,
    installationId,
    repositorySelection,
    suspendedAt,
    isDeleted,
    statedAt,
  } of sorted) {
    await sql`
      insert into installations as e (entity_id, app_id, installation_id, login, entity_type, repository_selection, suspended_at, deleted_at, stated_at)
      values (${entity.id}, ${appId}, ${installationId}, ${entity.login}, ${entity.type}, ${repositorySelection}, ${suspendedAt}::timestamptz,
        case when ${isDeleted}::boolean then now() end, coalesce(${statedAt}::timestamptz, now()))
      on conflict (entity_id, app_id) do update set
        installation_id = excluded.installation_id,
        login = case when excluded.stated_at >= ${sql.raw(NAMED_AT)} then excluded.login else e.login end,
        entity_type = excluded.entity_type,
        repository_selection = coalesce(excluded.repository_selection,
          case when e.installation_id = excluded.installation_id then e.repository_selection end),
        suspended_at = excluded.suspended_at,
        deleted_at = excluded.deleted_at,
        stated_at = greatest(e.stated_at, excluded.stated_at),
        updated_at = now()
      where excluded.installation_id > e.installation_id
        or (excluded.installation_id = e.installation_id and e.deleted_at is null
          and (excluded.deleted_at is not null or excluded.stated_at >= e.stated_at
            or (excluded.suspended_at is null and excluded.stated_at > e.suspended_at)))
        or (excluded.installation_id = e.installation_id and excluded.deleted_at is null and excluded.stated_at > e.deleted_at)
        or (excluded.installation_id < e.installation_id and e.deleted_at is not null
          and excluded.deleted_at is null and excluded.stated_at > e.stated_at)`.execute(trx);
  }
}

/**
 * These installations now show other repositories, so discovery lists them at once. The
 * installations themselves have not changed.
 */
export async function noteOtherRepositories(
  trx: Trx,
  installations: readonly Pick<InstallationToStore, 'appId' | 'entity' | 'installationId'>[],
): Promise<void> {
  for (const { appId, entity, installationId } of installations) {
    await trx
      .updateTable('installations')
      .set({ updated_at: sql`now()` })
      .where('entity_id', '=', entity.id)
      .where('app_id', '=', appId)
      .where('installation_id', '=', installationId)
      .execute();
  }
}

/**
 * Keeps others from writing installations until the transaction ends. A transaction takes this lock
 * before any row: it passes twice over the entities, and two such transactions would deadlock.
 * `pinLogins` takes it too.
 */
export async function lockInstallations(trx: Trx): Promise<void> {
  await sql`lock table installations in share row exclusive mode`.execute(trx);
}

/** An entity's login and installation, as a delivery about something else mentions them. */
export interface InstallationMention {
  readonly appId: number;
  readonly entity: InstallationStatement['entity'];
  readonly installationId: number;
  /** When GitHub said so, to the second; null: now. */
  readonly statedAt: string | null;
  /** The delivery is about this name, and wins within a second: a job's may have the old one. */
  readonly isRename?: true;
}

/**
 * Learns installations from deliveries that mention them: an App installed before Paddock, a
 * reinstallation, a new name. Such a row is dated 1970, so that any statement of GitHub about the
 * installation replaces it, except for a login stated later. Locks no row without news.
 */
export async function noteInstallations(
  trx: Trx,
  mentions: readonly InstallationMention[],
): Promise<void> {
  if (mentions.length > 0)
    await trx.executeQuery(CompiledQuery.raw(NOTE_INSTALLATIONS, [mentionsParameter(mentions)]));
}

/** The value of `mentions` below: the latest mention of each entity and App. */
export function mentionsParameter(mentions: readonly InstallationMention[]): string {
  const newest = new Map<string, InstallationMention>();
  for (const mention of mentions) {
    const key = `${mention.entity.id} ${mention.appId}`;
    const known = newest.get(key);
    if (known === undefined || isNewer(mention, known)) newest.set(key, mention);
  }
  return JSON.stringify(
    [...newest.values()].map(({ appId, entity, installationId, statedAt, isRename }) => ({
      entity_id: entity.id,
      app_id: appId,
      installation_id: installationId,
      login: entity.login,
      entity_type: entity.type,
      stated_at: statedAt,
      is_rename: isRename,
    })),
  );
}

function isNewer(a: InstallationMention, b: InstallationMention): boolean {
  if (a.installationId !== b.installationId) return a.installationId > b.installationId;
  if (a.statedAt === b.statedAt) return a.isRename === true;
  return b.statedAt !== null && (a.statedAt === null || a.statedAt > b.statedAt);
}

/** The same inside other statements, on a condition. A renaming wins within its second. */
export const notingInstallations = (mentions: `$${number}`, condition = 'true'): string => `
    insert into installations as e (entity_id, app_id, installation_id, login, entity_type, stated_at, login_stated_at)
    select m.entity_id, m.app_id, m.installation_id, m.login, m.entity_type, to_timestamp(0), said.at
    from json_to_recordset(${mentions}::json) as m(
      entity_id bigint, app_id bigint, installation_id bigint, login text, entity_type entity_type_enum, stated_at timestamptz, is_rename boolean)
    cross join lateral (
      select coalesce(m.stated_at, now()) + case when m.is_rename then interval '1 microsecond' else '0' end as at
    ) said
    left join lateral (
      select installation_id, login, ${NAMED_AT} as named_at from installations e where entity_id = m.entity_id and app_id = m.app_id limit 1
    ) known on true
    where ${condition} and (known.login is null or m.installation_id > known.installation_id
      or (m.installation_id = known.installation_id and m.login <> known.login and said.at > known.named_at))
    order by m.entity_id, m.app_id
    on conflict (entity_id, app_id) do update set
      installation_id = excluded.installation_id,
      login = case when excluded.login_stated_at > ${NAMED_AT} then excluded.login else e.login end,
      login_stated_at = greatest(e.login_stated_at, excluded.login_stated_at),
      repository_selection = case when e.installation_id = excluded.installation_id then e.repository_selection end,
      suspended_at = case when e.installation_id = excluded.installation_id then e.suspended_at end,
      deleted_at = case when e.installation_id = excluded.installation_id then e.deleted_at end,
      updated_at = now()
    where excluded.installation_id > e.installation_id
      or (excluded.installation_id = e.installation_id and excluded.login_stated_at > ${NAMED_AT})`;

const NOTE_INSTALLATIONS = preparedText(notingInstallations('$1'));

export interface AppInstallation extends KnownInstallation {
  readonly entityType: EntityType;
}

/** Our rows of an App's installations, deleted ones included. */
export const findAppInstallations = (db: Db, appId: number): Promise<AppInstallation[]> =>
  db
    .selectFrom('installations')
    .select(['entity_id as entityId', 'entity_type as entityType', 'login'])
    .select(['installation_id as installationId', 'repository_selection as selection'])
    .select(sql<boolean>`suspended_at is not null`.as('isSuspended'))
    .select(sql<boolean>`deleted_at is not null`.as('isDeleted'))
    .where('app_id', '=', appId)
    .execute();

/**
 * Stores GitHub's answer about an installation, with an event. It counts from the moment of asking,
 * so a delivery of a later change wins.
 */
export async function repairInstallation(trx: Trx, statement: InstallationToStore): Promise<void> {
  const { appId, installationId, entity, isDeleted } = statement;
  const refused = await pinLogins(trx, isDeleted ? [] : [entity]);
  await storeInstallations(trx, [statement]);
  await appendEvents(trx, [
    {
      source: 'reconciler',
      event: isDeleted ? 'discovered.uninstalled' : 'discovered.installed',
      outcome: refused.has(entity.id) ? 'refused_entity' : 'ok',
      appId,
      installationId,
      entity,
      payload: JSON.stringify(statement),
    },
  ]);
}
