import { z } from 'zod';
import { dates } from '../lists/dates.ts';
import { after, limit, pageOf } from '../lists/page.ts';
import { KINDS, traceItem } from './trace-item.ts';

/** A place in a trace: the instant with its microseconds, the kind, and the id. */
export type TracePosition = readonly [at: string, kind: number, id: string];

/** A thing that happened, at its place. */
export interface Traceable {
  readonly item: z.output<typeof traceItem>;
  readonly position: TracePosition;
}

/** The inputs of each trace. */
export const traceInput = {
  kind: z.enum(KINDS).optional().describe('Only what is of this kind'),
  ...dates,
  limit,
  after: after(
    z.tuple([
      z.iso.datetime(),
      z
        .int()
        .min(0)
        .max(KINDS.length - 1),
      z.string().max(100),
    ]),
  ),
};

export type TraceInput = z.output<z.ZodObject<typeof traceInput>>;

export const traceAnswer = pageOf(traceItem).extend({
  entity: z
    .object({
      id: z.int(),
      login: z.string().nullable().describe('Null: no App of Paddock was seen on it'),
      formerly: z.array(z.string()).describe('Its logins before, the latest first'),
    })
    .nullable()
    .describe('Null: the rows name none'),
});

/** Newest first. */
export const byPosition = ({ position: a }: Traceable, { position: b }: Traceable): number =>
  compare(b[0], a[0]) || a[1] - b[1] || compareIds(b[2], a[2]);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Numbers as numbers: one with more digits is greater. */
const compareIds = (a: string, b: string): number =>
  NUMBER.test(a) && NUMBER.test(b) ? a.length - b.length || compare(a, b) : compare(a, b);

const NUMBER = /^\d+$/;
