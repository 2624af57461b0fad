/**
 * The result of a delivery or an attempt: `installation_events.outcome`. Stored as text, so that a
 * new one needs no migration. This list documents all of them.
 */
export const OUTCOMES = {
  ok: 'handled, nothing more to say',
  job_stored: 'a new row in jobs',
  job_already_exists: 'the job was known in this state or a later one; nothing changed',
  job_marked_running: 'the job moved to running',
  job_marked_completed: 'the job moved to completed',
  job_facts_added: 'the status stayed; a conclusion, an instant or the runner was filled in',
  job_moved:
    'the pools have changed: the job, which still waits, belongs to another one now, or to none',
  job_not_found: 'GitHub no longer knows the job',
  ignored_action: 'an action of workflow_job that says nothing of demand',
  ignored_no_label: 'no pool has all of the job’s labels',
  ignored_event: 'an event that Paddock does not use',
  ignored_entity: 'the entity is not among the configured entities',
  refused_entity:
    'the entity’s login is pinned to another entity’s id; a person decides (docs/whose-jobs.md)',
  ignored_pool_closed:
    'pools have the labels, but no such pool serves this entity and this repository',
  ignored_public_repository: 'the repository is public and the pool does not serve public ones',
  proxied_to_staging: 'passed on to another environment',
  auth_404: 'GitHub knows no such installation',
  auth_other_error: 'GitHub refused to authenticate us for another reason',
  job_waiting: 'the job waits for an approval; it is no demand yet',
  worker_bound: 'a job that fits no pool, seen on one of our workers',
  worker_misused:
    'a job of a public repository, or of a repository or entity that the pool does not serve, runs on one of our workers',
  duplicate_delivery: 'this delivery was stored before; nothing changed',
  repeated_body: 'this body was stored before, under another GUID or very often; nothing changed',
  repository_hidden:
    'GitHub does not show the job’s repository to our App, so that nothing can be asked of the job',
  redelivery_given_up: 'GitHub can no longer repeat this delivery; the job is looked up instead',
} as const;

export type Outcome = keyof typeof OUTCOMES;
