-- Bearer tokens of the API. Additive: services of the version before know nothing of them.

-- `id` stands in the token and finds the row; of the secret there is only the hash. A revoked token
-- stays, because `name` stands in the rows that say who did what. A token with an `endpoint` calls
-- this one only, and only for the `subject`: values of its path, as {"job": 7}.
create table tokens (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  secret_sha256 text not null check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  access text not null check (access in ('read', 'operate')),
  endpoint text,
  subject jsonb,
  created_by text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_by text,
  revoked_at timestamptz,
  check ((endpoint is null) = (subject is null)),
  check ((revoked_by is null) = (revoked_at is null))
);
