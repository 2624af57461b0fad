-- All rights of the services in a schema (docs/roles.md). The migrator applies this file after the
-- migrations, each time, in one transaction. So a right that is removed here is taken away. The
-- tables and their triggers belong to the migrator's role.
--
-- :schema, :ingress, :scheduler, :reconciler and :console are names. The roles have no login. A grant
-- names columns if a whole table would be too much. `on conflict do update` and `returning` need `select`.

revoke all on schema :schema from :ingress, :scheduler, :reconciler, :console;
revoke all on all tables in schema :schema from :ingress, :scheduler, :reconciler, :console;
revoke all on all sequences in schema :schema from :ingress, :scheduler, :reconciler, :console;
-- Everybody may connect by default. Only the database's owner can grant it: else this does nothing.
do $$ begin
  execute format('grant connect on database %I to :ingress, :scheduler, :reconciler, :console', current_database());
end $$;
grant usage on schema :schema to :ingress, :scheduler, :reconciler, :console;
-- Statements compute columns with them. Trigger functions cannot be called.
grant execute on all functions in schema :schema to :ingress, :scheduler, :reconciler, :console;

-- All services read the version of the schema, the pools in force, and the rows of their gauges.
grant select on schema_migration, pools_documents, jobs, installations, demand_keys, apps to :ingress, :scheduler, :reconciler;
-- The service that first sees a login pins it to its entity. Only a person changes a pin.
grant select, insert on login_pins to :ingress, :scheduler, :reconciler;

-- Ingress, which the outside reaches: stores deliveries, jobs and installations, binds workers, and
-- requests passes of redelivery. It reads the columns of workers that binding and gauges need.
grant select, insert on installation_events to :ingress;
grant insert, update on jobs, installations to :ingress;
grant select (pod_name, status, entity_id, scope_repo_id, k8s_pool, k8s_image, demand_key, pod_uid, runner_id, assigned_job_id, assigned_at,
    stopping_at, completed_at, stuck_reason) on workers to :ingress;
grant update (assigned_job_id, assigned_at, unexplained_until) on workers to :ingress;
-- A job that a worker gets is a success of its demand key.
grant update (failures, pauses, failure_class, failure_message, failing_since, failed_at, paused_until) on demand_keys to :ingress;
grant select (app_id, guid) on unresolved_deliveries to :ingress;
grant select (refused_since, app_id) on repositories to :ingress;
-- Whether a limit held a job that started late.
grant select on wait_reason_changes to :ingress;
grant select (ingress_seen_at, versions, app_ids), update (ingress_seen_at, versions) on instance to :ingress;
grant select (name, extra_at, extra_since, extra_until), update (extra_at, extra_since, extra_until) on schedules to :ingress;

-- The scheduler: loads the pools, makes workers for jobs, and follows them to their end.
grant select, insert on pools_documents to :scheduler;
grant select, insert, update on jobs, workers, installations, apps, repositories, leases, runner_groups to :scheduler;
grant select, insert on installation_events to :scheduler;
grant select, insert, update, delete on demand_keys, tasks to :scheduler;
grant select, insert, delete on outages to :scheduler, :reconciler;
grant select, insert on operations, task_counts to :scheduler;
grant select on instance, switches to :scheduler;
-- For `paddock doctor` in its pod: whether sweeps are overdue, and runner versions have ended.
grant select (k8s_pool, version, ends_at) on pool_runner_versions to :scheduler, :console;
grant select (name, last_tick_at, succeeded_at, last_pass) on schedules to :scheduler;
grant update (app_ids, scheduler_seen_at, versions) on instance to :scheduler;
grant insert on wait_reason_changes to :scheduler;
grant select (app_id, guid) on unresolved_deliveries to :scheduler;

-- The reconciler: finds what GitHub and the cluster have that the rows lack, and deletes old rows.
grant select, update on workers to :reconciler;
grant select, insert, update, delete on jobs, tasks, task_counts, repositories, unresolved_deliveries to :reconciler;
grant select, insert, update on apps, installations, schedules, pool_runner_versions to :reconciler;
grant select, insert, update, delete on demand_keys to :reconciler;
grant select, insert, delete on installation_events to :reconciler;
-- It locks rows before it deletes them, which needs `update`.
grant select, insert, update, delete on operations to :reconciler;
grant select, delete on wait_reason_changes to :reconciler;
grant select, insert, delete on usage_hours to :reconciler;
grant select on instance, leases, switches, runner_groups to :reconciler;
-- It makes instants now that a wrong clock of PostgreSQL has left.
grant update (expires_at) on leases to :reconciler;
grant update (created_at, ingress_seen_at, scheduler_seen_at, reconciler_seen_at, events_retired_to, versions) on instance to :reconciler;
grant update (paused_until, read_at) on runner_groups to :reconciler;
grant update (received_at) on installation_events to :reconciler;

-- The console, which people reach: reads what they ask for, keeps their tokens, and adds what they do
-- to the audit, which it never changes.
grant select on schema_migration, installations, tasks, operations, task_counts, leases to :console;
grant select on unresolved_deliveries, installation_events, pools_documents, login_pins, jobs, workers, demand_keys, instance, switches, outages,
    apps, runner_groups, repositories, wait_reason_changes, usage_hours to :console;
grant select, insert, update (last_used_at, revoked_by, revoked_at) on tokens to :console;
grant select, insert on actions to :console;
grant select, insert, delete on sessions to :console;
-- The switches of people.
grant insert, delete on switches to :console;
-- It enqueues what people ask for, and makes a queued task theirs.
grant select (name, last_tick_at, succeeded_at, last_pass) on schedules to :console;
-- It ends pauses, so that what was held back is tried again.
grant update (paused_until) on demand_keys, runner_groups to :console;
grant update (refused_until) on apps, installations, repositories to :console;
grant insert, update (origin, requested_by, payload, due_at) on tasks to :console;
-- It requests the stop of workers, which the scheduler carries out after its proofs.
grant update (stopping_at, stop_reason) on workers to :console;
grant insert, update (handled_by, handled_at, retried_as) on operations to :console;
grant insert on task_counts to :console;
