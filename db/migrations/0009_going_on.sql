-- What services need to go on at once when something that was away is back.

-- Since when a breaker has been open, and since when a probe has been answered; null while nothing answers.
alter table breakers add column opened_at timestamptz, add column answered_at timestamptz;

-- When a breaker's row goes, or its pause ends sooner, its tasks are due at once, unless another row still pauses the subject, and their
-- executors hear of it. The trigger passes over a task that is locked at this instant, which then comes when it is due: to wait for the lock
-- could close a circle. What is named ID/PART, as one of an account's budgets, holds tasks by its ID.
create function let_held_tasks_go() returns trigger language plpgsql as $$
declare
  whole constant text := split_part(old.subject_id, '/', 1);
  -- Another breaker may still pause the subject.
  free_at constant timestamptz := greatest(now(), (
    select max(paused_until) from breakers where subject_type = old.subject_type and split_part(subject_id, '/', 1) = whole));
  kinds text[];
begin
  with held as (
    select id from tasks
    where status = 'queued' and held_by = old.subject_type || ':' || whole and due_at > free_at
    for no key update skip locked
  ),
  let_go as (
    update tasks set due_at = free_at from held where tasks.id = held.id returning tasks.kind
  )
  select array_agg(distinct kind) into kinds from let_go;
  perform pg_notify(tg_table_schema || '_task_event', kind) from unnest(kinds) kind;
  -- Where no task waits, the matcher makes the worker that is tried.
  perform pg_notify(tg_table_schema || '_queue_event', tg_table_name);
  return null;
end $$;
create trigger breakers_let_go after delete on breakers for each row execute function let_held_tasks_go();
create trigger breakers_shortened after update of paused_until on breakers for each row
  when (new.paused_until < old.paused_until or new.paused_until is null and old.paused_until is not null)
  execute function let_held_tasks_go();

-- A breaker that opens is told at once: matchers give back what it holds, and what passes by itself is probed from then on.
create trigger breakers_opened after update of pauses on breakers for each row
  when (old.pauses = 0 and new.pauses > 0) execute function notify_queue_event();

-- When a pass of a sweep is wanted beside its ticks, until when further ones are to follow (or the last one was taken), and since when they have
-- been wanted without a rest; the first is null while none is wanted.
alter table schedules add column extra_at timestamptz, add column extra_until timestamptz, add column extra_since timestamptz;

-- What a queued task waits for, as TYPE:ID of a breaker's subject: when that breaker lets go, the task is due at once. It comes last, as the
-- matcher locks breakers before it enqueues.
alter table tasks add column held_by text;
