-- The same key as before, for less: PostgreSQL puts the body of an SQL function into the column's expression anew with every statement that
-- writes a job or a worker, which costs a delivery that comes alone a twentieth of its time. This one is called.
create or replace function demand_key_of(entity_id bigint, scope_repo_id bigint, pool text) returns bigint
language plpgsql immutable parallel safe as $$
begin
  return hashtextextended(entity_id::text || ':' || scope_repo_id::text || ':' || pool, 0) & 9007199254740991;
end $$;
