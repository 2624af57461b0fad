-- What people ask for. Additive: services of the version before leave the new columns empty.

-- The operation that the action asked for; several may ask for one.
alter table actions add column operation uuid;

-- What became of a failed operation: somebody had it repeated as another one, or discarded it.
alter table operations add column handled_by text, add column handled_at timestamptz, add column retried_as uuid;

-- A sweep may be paused for one subject: KIND:SUBJECT, as resync-repository:acme/app. Services of the
-- version before know only the pauses of whole sweeps.
alter table paused_sweeps drop constraint paused_sweeps_name_check;
alter table paused_sweeps add constraint paused_sweeps_name_check check (name ~ '^(\*|[a-z-]+(:\S+)?)$');
