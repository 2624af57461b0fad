/** The longest channel name PostgreSQL takes is 63 bytes, and `_queue_event` is 12 of them. */
const PLAIN_IDENTIFIER = /^[a-z_][a-z0-9_]{0,50}$/;

/** Throws for a name that cannot be used unquoted as a schema, in channels and search_path. */
export function assertSchemaName(schema: string): void {
  if (!PLAIN_IDENTIFIER.test(schema) || schema.startsWith('pg_')) {
    throw new Error(
      `The schema name ${JSON.stringify(schema)} cannot be used: it must be a plain lower-case identifier of at most 51 bytes ([a-z_][a-z0-9_]*) that does not begin with "pg_".`,
    );
  }
}

/** Sent whenever there may be new demand or freed capacity. */
export const queueEventChannel = (schema: string): string => `${schema}_queue_event`;

/** Sent for new tasks; the payload is the task's kind. */
export const taskEventChannel = (schema: string): string => `${schema}_task_event`;

/** Sent when a sweep's pass is wanted beside its ticks; the payload is the schedule's name. */
export const sweepEventChannel = (schema: string): string => `${schema}_sweep_event`;

export const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;

export type ServiceName = (typeof SERVICES)[number];

/** The role with a service's rights in a schema. Roles belong to a whole server. */
export const roleOf = (schema: string, service: ServiceName): string => `${schema}_${service}`;
