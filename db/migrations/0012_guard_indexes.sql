-- Indexes only: services work without them, slower.

-- Bodies that say nothing of a job. Those that do are found by their job, so that the most frequent deliveries pay for no further index.
create index installation_events_by_body on installation_events (body_digest) where body_digest is not null and job_id is null;
