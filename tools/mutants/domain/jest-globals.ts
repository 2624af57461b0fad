// The domain's tests import this as `@jest/globals` in a run without Jest: `test` only records the
// test.
import { bind } from 'jest-each';

export { expect } from 'expect';

export interface NotedTest {
  readonly name: string;
  readonly run: () => unknown;
}

let noted: NotedTest[] = [];
let around: readonly string[] = [];

export function describe(name: string, block: () => void): void {
  const outside = around;
  around = [...outside, name];
  block();
  around = outside;
}

const note = (name: string, run: () => unknown): void =>
  void noted.push({ name: [...around, name].join(' '), run });

export const test = Object.assign(note, { each: bind(note) });

/** Gives the tests recorded since the last call. */
export function takeNoted(): readonly NotedTest[] {
  const taken = noted;
  noted = [];
  return taken;
}
