-- What the answer to "why does my job wait?" reads. Additive: services of the version before know
-- nothing of it.

-- The settings of the scheduler that started last: passes of the matcher depend on them, and people
-- who ask have none.
create table matching_settings (
  only_row boolean primary key default true check (only_row),
  settings jsonb not null,
  stored_at timestamptz not null default now()
);

-- Why a person stopped something, for those who meet it.
alter table stopped_making add column note text;
alter table paused_sweeps add column note text;
