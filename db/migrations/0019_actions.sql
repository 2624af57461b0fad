-- Who did what. Additive: services of the version before know nothing of it.

-- One row per action of a person, written in the action's transaction, and never changed. People act
-- seldom, so the rows stay for good.
create table actions (
  id bigint generated always as identity primary key,
  person text not null,
  acted_at timestamptz not null default now(),
  came_from text not null check (came_from in ('terminal', 'api')),
  endpoint text not null,
  subject jsonb not null check (jsonb_typeof(subject) = 'object'),
  note text
);
