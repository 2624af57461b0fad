-- What the reconciler's sweeps are told, and what they remember between two passes.

-- Sweeps that do nothing until their row goes, by the kind of their task; `*` is all of them. Looked up right before each pass.
create table paused_sweeps (
  name text primary key check (name ~ '^(\*|[a-z-]+)$'),
  paused_by text not null,
  paused_at timestamptz not null default now()
);
