import type { SchedulerWorld } from './scheduler.scene.ts';

type WorkerRow = Awaited<ReturnType<SchedulerWorld['workers']>>[number];

/** Makes an adopted row comparable with the lost one: its failure is diagnosed again. */
export const lasting = (worker: WorkerRow) => ({
  entity: [
    worker.entity_id,
    worker.entity_name,
    worker.entity_type,
    worker.app_id,
    worker.installation_id,
    worker.repo_full_name,
  ],
  key: [worker.scope_repo_id, worker.demand_key],
  made: [
    worker.job_labels,
    worker.made_for_job_id,
    worker.delivery_guid,
    worker.k8s_pool,
    worker.k8s_image,
    worker.pools_version,
    worker.is_warm,
  ],
  pod: [
    worker.cluster,
    worker.namespace,
    worker.pod_uid,
    worker.k8s_node,
    worker.unschedulable_at,
    worker.running_at,
  ],
  end: [
    worker.status,
    worker.completed_at,
    worker.exit_code,
    worker.stopping_at,
    worker.stop_reason,
  ],
});
