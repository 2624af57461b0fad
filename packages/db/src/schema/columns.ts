import type { WaitReason } from '@paddock/domain/matching/wait-reasons';

/** `{ version: 1, message }` for everything but pod diagnostics, which are version 2. */
export type FailureInfo =
  | { version: 1; message: string }
  | ({ version: 2 } & Record<string, unknown>);

/** One failed run: when, which attempt, and its error. */
export interface TaskFailure {
  attempt: number;
  at: string;
  reason: 'error' | 'timeout' | 'crash' | 'poison' | 'snooze';
  message: string;
}

/** Values of an endpoint's path, by their names: `{"token": "ci"}`. */
export type Subject = Readonly<Record<string, string | number>>;

/**
 * What columns hold of which the schema says JSON or text only: for the generated `tables.ts`.
 *
 * @public
 */
export interface ColumnTypes {
  'actions.subject': Subject;
  'apps.refused_reason': WaitReason;
  'installations.former_logins': Readonly<Record<string, string>>;
  'installations.refused_reason': WaitReason;
  'instance.app_ids': readonly number[];
  'instance.versions': Readonly<
    Record<string, { since: number; last: number; schema: number; refused: string | null }>
  >;
  'jobs.failure_info': FailureInfo;
  'jobs.job_labels': string[];
  'operations.failures': TaskFailure[];
  'operations.origin': 'MANUAL' | 'AUTOMATIC';
  'repositories.refused_reason': WaitReason;
  'runner_groups.repositories': readonly string[];
  'runner_groups.visibility': 'all' | 'private' | 'selected';
  'runner_groups.workflows': readonly string[];
  'sessions.groups': string[];
  'tasks.failures': TaskFailure[];
  'tokens.subject': Subject;
  'workers.failure_info': FailureInfo;
  'workers.job_labels': string[];
  'workers.registered_labels': string[];
}
