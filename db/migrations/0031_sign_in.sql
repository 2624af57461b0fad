-- More ways to sign in to the page. Additive: services of the version before know neither tokens for
-- one sign-in, which they find under no text, nor sessions of people without a token.

-- A token for one sign-in begins one session, and proves nothing else.
alter table tokens add one_time boolean not null default false;

-- Whom an identity provider vouches for has no token. What their groups may do, the console's settings say.
alter table sessions
  alter token_id drop not null,
  add person text,
  add groups jsonb,
  add constraint sessions_token_or_person check ((token_id is null) = (person is not null) and (person is null) = (groups is null));

create index sessions_by_person on sessions (person, created_at) where person is not null;
