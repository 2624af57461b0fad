import type { Item } from '../answers.ts';

/** What the sums of a row are of, and the jobs of it. Null: of workers without a job. */
export function subjectOf({ entity, repository, workflow, pool }: Item<'listUsage'>): {
  name: string | null;
  /** The filters that list them, as the API takes them. */
  filters: Readonly<Record<string, string>>;
} {
  if (pool !== null) return { name: pool, filters: { pool } };
  if (repository !== null) {
    const named = repository.fullName ?? String(repository.id);
    const filters = { repository: named };
    return workflow === null
      ? { name: named, filters }
      : { name: `${named}: ${workflow}`, filters: { ...filters, workflow } };
  }
  if (entity !== null) {
    const login = entity.login ?? String(entity.id);
    return { name: login, filters: { entity: login } };
  }
  return { name: null, filters: {} };
}
