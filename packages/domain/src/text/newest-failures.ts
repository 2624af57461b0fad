export interface Failure {
  readonly what: 'worker' | 'operation';
  /** Of an operation its UUID, of a worker its name. */
  readonly id: string;
  readonly name: string;
  /** A worker’s pool, or an operation’s subject. */
  readonly of: string;
  readonly why: string | null;
  /** When it ended, in ISO 8601. */
  readonly at: string;
}

interface FailedWorker {
  readonly name: string;
  readonly pool: string;
  readonly failure: string | null;
  readonly createdAt: string;
  readonly completedAt: string | null;
}

interface FailedOperation {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly id: string; readonly name: string | null };
  readonly failure: { readonly message: string } | null;
  readonly queuedAt: string;
  readonly finishedAt: string | null;
}

export const newestFailures = (
  workers: readonly FailedWorker[],
  operations: readonly FailedOperation[],
): Failure[] =>
  [
    ...workers.map(({ name, pool, failure, createdAt, completedAt }) => ({
      what: 'worker' as const,
      id: name,
      name,
      of: pool,
      why: failure,
      at: completedAt ?? createdAt,
    })),
    ...operations.map(({ id, kind, subject, failure, queuedAt, finishedAt }) => ({
      what: 'operation' as const,
      id,
      name: kind,
      of: subject.name ?? subject.id,
      why: failure?.message ?? null,
      at: finishedAt ?? queuedAt,
    })),
  ].toSorted((a, b) => (a.at < b.at ? 1 : -1));
