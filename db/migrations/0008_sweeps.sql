-- What the reconciler's sweeps are told, and what they remember between two passes.

-- Sweeps that do nothing until their row goes, by the kind of their task; `*` is all of them. Looked up right before each pass.
create table paused_sweeps (
  name text primary key check (name ~ '^(\*|[a-z-]+)$'),
  paused_by text not null,
  paused_at timestamptz not null default now()
);

-- Registrations at GitHub that bear our name and have no worker here, and are offline: as a restored database does not know the last ones
-- (E6). A row goes when the registration is gone, online or known again, so `sightings` counts those in a row.
create table stray_registrations (
  entity_id bigint not null,
  scope_repo_id bigint not null,
  runner_id bigint not null,
  name text not null,
  sightings integer not null default 1,
  first_seen_at timestamptz not null default now(),
  primary key (entity_id, scope_repo_id, runner_id)
);

-- How far retention has come in a table that is only appended to: rows up to this id have been removed, or are kept for ever (E7).
create table retention_progress (
  name text primary key,
  reached_id bigint not null
);
