-- Indexes and storage settings only: services work without them, slower.

-- Every repository of an installation has a row now: those that are active are few among them.
create index repositories_active on repositories (active_at);
create index repositories_noted on repositories (noted_at) where noted_at is not null;
