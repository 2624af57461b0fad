/** When what happened to a job and to the worker that ran it; null: not, or it is not known. */
export interface JobInstants {
  readonly queuedAt: Date | null;
  /** The row of the job was committed. */
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly reservedAt: Date | null;
  readonly registeredAt: Date | null;
  readonly runningAt: Date | null;
}

/** A part of a job's way, from the end of the part before. */
export interface Phase {
  readonly name: 'delivery' | 'match' | 'register' | 'pod' | 'online' | 'job';
  readonly from: Date;
  readonly to: Date;
}

/**
 * The way of an ended job, without gaps. What had happened to its worker before the job came is left
 * out. Clocks of several machines are in it, so no part begins before the one before has ended.
 */
export function phasesOfJob(job: JobInstants): Phase[] {
  const ends: readonly (readonly [Phase['name'], Date | null])[] = [
    ['delivery', job.createdAt],
    ['match', job.reservedAt],
    ['register', job.registeredAt],
    ['pod', job.runningAt],
    ['online', job.startedAt],
    ['job', job.completedAt],
  ];
  let from = job.queuedAt ?? job.createdAt;
  return ends.flatMap(([name, to]) => {
    if (to === null || to <= from) return [];
    const phase = { name, from, to };
    from = to;
    return [phase];
  });
}
