/** What is known of an entity, or of one repository of it. */
export interface EntityFacts {
  /** The login or id, and the repository, as they were asked for. */
  readonly asked: { readonly login: string; readonly repository: string | null };
  /** Null: no row names it. */
  readonly entity: { readonly id: number; readonly login: string | null } | null;
  readonly installations: readonly InstalledApp[];
  /** The Apps of the configuration; null: no scheduler has stored them. */
  readonly configuredApps: readonly number[] | null;
  /** What its newest deliveries came to; of a repository, those about it. */
  readonly ignored: readonly IgnoredJobs[];
  /** Refused authentications among its events of the last day, by App. */
  readonly authFailures: readonly AuthFailures[];
  /** The installations that its newest deliveries name. */
  readonly installationsSeen: readonly SeenInstallation[];
  readonly lastDeliveryAt: Date | null;
  /** One of its newest deliveries is about the repository that was asked for. */
  readonly isRepositorySeen: boolean;
  readonly undelivered: { readonly count: number; readonly since: Date } | null;
  /** The pools in which its jobs wait for a reason. */
  readonly waiting: readonly WaitingKey[];
}

/** An App on the entity. */
export interface InstalledApp {
  readonly appId: number;
  readonly installationId: number;
  readonly selection: string | null;
  readonly suspendedAt: Date | null;
  readonly deletedAt: Date | null;
  /**
   * What its deliveries say of the repository. `unknown`: one from before may have selected it; null:
   * no repository was asked for.
   */
  readonly choice: 'selected' | 'removed' | 'never' | 'unknown' | null;
}

export interface IgnoredJobs {
  readonly outcome: string;
  readonly count: number;
  readonly since: Date;
  readonly lastAt: Date;
  readonly lastJobId: number | null;
}

export interface AuthFailures {
  readonly appId: number;
  readonly count: number;
  readonly since: Date;
  /** GitHub knew no such installation, each time. */
  readonly isNotFound: boolean;
}

export interface SeenInstallation {
  readonly appId: number;
  readonly installationId: number;
  readonly lastAt: Date;
}

export interface WaitingKey {
  readonly pool: string;
  readonly waiting: number;
  readonly reason: string;
  readonly since: Date;
  /** The job that waits longest. */
  readonly jobId: number;
}
