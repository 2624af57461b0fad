import type { Answered, Asking } from '../state/request.ts';

/** An action on one of the chosen rows. */
export interface Step {
  /** Of the row, as people know it. */
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Of the API. */
  readonly path: string;
}

/** What became of the steps. */
export interface Outcome {
  readonly done: readonly Step[];
  readonly failed: readonly { readonly step: Step; readonly why: string }[];
  /** The person had had enough. */
  readonly left: number;
}

/**
 * Takes the steps one after the other, so that many of them leave room for other requests. One that
 * fails does not end the others, unless nobody may act any more.
 */
export async function takeSteps(
  steps: readonly Step[],
  note: string | undefined,
  ask: (path: string, asking: Asking) => Promise<Answered<unknown>>,
  tell: (taken: number) => void,
  stopped: AbortSignal,
): Promise<Outcome> {
  const done: Step[] = [];
  const failed: Outcome['failed'][number][] = [];
  for (const step of steps) {
    if (stopped.aborted) break;
    const { method, path } = step;
    const told = await ask(`/api/v1${path}`, { method, body: note === undefined ? {} : { note } });
    if ('answer' in told) done.push(step);
    else failed.push({ step, why: `${told.trouble.title}. ${told.trouble.detail}` });
    tell(done.length + failed.length);
    if ('trouble' in told && told.trouble.status === 401) break;
  }
  return { done, failed, left: steps.length - done.length - failed.length };
}

/** The steps without those that would do the same again. */
export const distinct = (steps: readonly Step[]): Step[] => [
  ...new Map(steps.map((step) => [`${step.method} ${step.path}`, step])).values(),
];
