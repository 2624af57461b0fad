-- Indexes only: services work without them, slower.

-- Who asked for an operation.
create index actions_by_operation on actions (operation) where operation is not null;

-- The failed operations that nobody has dealt with, and those of a kind. Few rows: those that fail.
create index operations_unhandled on operations (finished_at desc, id desc) where status = 'ERROR' and handled_at is null;
create index operations_unhandled_by_kind on operations (kind, finished_at desc, id desc) where status = 'ERROR' and handled_at is null;
