-- Indexes only: services work without them, slower.

-- The tasks that a breaker holds.
create index tasks_held on tasks (held_by) where held_by is not null;
