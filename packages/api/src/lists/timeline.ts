import { z } from 'zod';

/** What happened to a subject, and when. */
export const timeline = z.array(z.object({ at: z.iso.datetime(), what: z.string() }));

/** The instants that are known, in their order. Of one instant, the order given. */
export const toTimeline = (
  instants: Readonly<Record<string, Date | null>>,
): z.input<typeof timeline> =>
  Object.entries(instants)
    .flatMap(([what, at]) => (at === null ? [] : [{ at: at.toISOString(), what }]))
    .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
