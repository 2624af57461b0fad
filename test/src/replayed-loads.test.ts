import { seedsAnd } from '@paddock/testing/random-cases';
import { expect, test } from '@jest/globals';
import { LOADS } from '@paddock/domain/scenes/loads.scene';
import { replay, type Told } from '@paddock/domain/scenes/replayed-load.scene';

const isHeld = ({ p50, p90, waited }: Told): boolean =>
  p50 !== null && p90 !== null && waited >= p50 / 2 && waited <= p90;
const percentHeld = (told: readonly Told[]): number =>
  Math.round((100 * told.filter(isHeld).length) / told.length);

/** A change that comes cannot be known, so a load with one holds less. */
const LEAST_OF_EACH = 50;

test.each(seedsAnd())(
  '(P5) 80 %% of waiting jobs start between half of their p50 and their p90, seed %d',
  (seed) => {
    const told = Object.entries(LOADS).map(([name, load]) => ({ name, told: replay(load, seed) }));
    const estimated = told.flatMap(({ told: of }) => of.filter(({ p50 }) => p50 !== null));
    const inAll = told.flatMap(({ told: of }) => of).length;
    expect(estimated.length / inAll).toBeGreaterThan(0.95);
    expect(percentHeld(estimated)).toBeGreaterThanOrEqual(80);
    const bad = told.filter(({ told: of }) => percentHeld(of) < LEAST_OF_EACH);
    expect(bad.map(({ name, told: of }) => `${name}: ${percentHeld(of)} %`)).toEqual([]);
  },
);
