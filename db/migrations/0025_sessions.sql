-- Sessions of people who signed in to the page with a token. Additive: services of the version before
-- know nothing of them.

-- `id` stands in the cookie and finds the row; of the secret there is only the hash. A session may do
-- what its token may, and no longer than it: each request reads both rows.
create table sessions (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  token_id text not null references tokens (id),
  secret_sha256 text not null check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index sessions_by_token on sessions (token_id, created_at);
create index sessions_by_expiry on sessions (expires_at);
