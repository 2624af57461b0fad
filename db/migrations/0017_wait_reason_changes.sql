-- The reasons that the jobs of a demand key waited for, each with its time. Additive: services of
-- the version before write none. The reason that holds is in `demand_keys`.
create table wait_reason_changes (
  demand_key bigint not null,
  reason text not null,
  since timestamptz not null,
  until timestamptz not null
);
create index wait_reason_changes_by_key on wait_reason_changes (demand_key, until);
create index wait_reason_changes_by_age on wait_reason_changes (until);
