import type { Subject } from '@paddock/db/schema/columns';
import type { Db } from '@paddock/db/schema/tables';
import { z } from 'zod';
import { withDatesInOrder } from './lists/dates.ts';

export interface Caller {
  readonly db: Db;
  /** Stored with what this person does. */
  readonly person: string;
  /** Where the request came from. Stored with what this person does. */
  readonly from: 'terminal' | 'api';
}

/** One question that people ask, or one thing that they do: in the terminal and over HTTP. */
export interface Endpoint<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType = z.ZodType,
  N extends string = string,
> {
  /** As `listJobs`: the operationId of the OpenAPI description. */
  readonly name: N;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** As `/api/v1/jobs/{job}`: braces name fields of `input`. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly access: 'read' | 'operate';
  /** 202: a task was enqueued, and the answer is its operation. */
  readonly status: 200 | 202;
  /**
   * The fields of the path, and of the query (GET) or the JSON body (else), together. The path and
   * the query hold text: the schema coerces it.
   */
  readonly input: I;
  readonly output: O;
  /** Rejects with a Problem that the caller can mend; any other error is a fault of ours. */
  // A method, so that a list can hold endpoints of different inputs.
  answer(caller: Caller, input: z.output<I>): Promise<z.input<O>>;
}

/** What the audit says about an act. */
export interface Act {
  readonly endpoint: string;
  readonly subject: Subject;
  readonly note: string | undefined;
}

/**
 * An endpoint as its file declares it. Its answer has dates for instants, and may have more than
 * the schema. `request` is for the audit, with the fields of the path as its subject.
 */
interface Declared<I extends z.ZodObject, O extends z.ZodType, N extends string>
  extends Omit<Endpoint<I, O, N>, 'answer' | Defaulted>, Partial<Pick<Endpoint<I, O>, Defaulted>> {
  answer(caller: Caller, input: z.output<I>, request: Act): Promise<z.output<O>>;
}

type Defaulted = 'method' | 'access' | 'status';

/**
 * Infers the types of an endpoint from its schemas. By default it answers with 200; readers may ask
 * a GET, and only operators anything else.
 */
export const endpoint = <I extends z.ZodObject, O extends z.ZodType, const N extends string>({
  method = 'GET',
  access = method === 'GET' ? 'read' : 'operate',
  status = 200,
  input,
  answer,
  ...declared
}: Declared<I, O, N>): Endpoint<I, O, N> => ({
  ...declared,
  method,
  access,
  status,
  input: withDatesInOrder(input),
  async answer(caller, given) {
    const fields = given as Readonly<Record<string, string | undefined>>;
    const request = {
      endpoint: declared.name,
      subject: Object.fromEntries(
        fieldsOfPath(declared.path).map((field) => [field, fields[field] ?? '']),
      ),
      note: fields['note'],
    };
    return z.encode(declared.output, await answer(caller, given, request));
  },
});

export const fieldsOfPath = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field);
