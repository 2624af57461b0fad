-- One row for the jobs of an hour that have all but their waiting times in common, as those of a run mostly do: a question about a
-- month reads a quarter of the rows. Additive: rows of the version before have queued_seconds instead.

-- How long each of the jobs that started was queued, sorted, in seconds, rounded to two digits from 100 on. Null: none of them started, or
-- queued_seconds says it of all.
alter table usage_hours add column queued integer[];
