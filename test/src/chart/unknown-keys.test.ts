import { beforeAll, describe, expect, test } from '@jest/globals';
import { HELM, renderChart } from '@paddock/testing/render-chart';
import { CHART_SCHEMA } from '../../../tools/helm/chart-schema.ts';
import { LEAST } from '../scenes/chart-releases.scene.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A place of the values that is a map of keys known by name. */
interface Place {
  /** As Helm writes it: `/config/pools/0`. */
  readonly at: string;
  readonly keys: readonly string[];
  readonly isStrict: boolean;
}

const SCHEMA = CHART_SCHEMA as Schema;

/** The key of a map whose keys are the operator's own, as accounts. */
const OWN = 'acme';

const mapsOf = (schema: Schema): Schema => schema.anyOf?.find(holdsKeys) ?? schema;
const holdsKeys = ({ properties, additionalProperties, items }: Schema): boolean =>
  properties !== undefined || typeof additionalProperties === 'object' || items !== undefined;

/** The parts of a map or a list, by their keys in values. */
function partsOf({ properties, additionalProperties, items }: Schema): [string, Schema][] {
  if (properties !== undefined) return Object.entries(properties);
  if (items !== undefined) return [['0', items]];
  return additionalProperties ? [[OWN, additionalProperties]] : [];
}

const placesOf = (given: Schema, at = ''): Place[] => {
  const schema = mapsOf(given);
  const keys = Object.keys(schema.properties ?? {});
  const isStrict = schema.additionalProperties === false;
  return [
    ...(keys.length > 0 ? [{ at, keys, isStrict }] : []),
    ...partsOf(schema).flatMap(([key, part]) => placesOf(part, `${at}/${key}`)),
  ];
};

/** Values with one unknown key in each map that refuses them. */
function mistaken(given: Schema): unknown {
  const schema = mapsOf(given);
  const parts = partsOf(schema).flatMap(([key, part]) => {
    const value = mistaken(part);
    return value === undefined ? [] : [[key, value] as const];
  });
  if (schema.items !== undefined) return parts.length === 0 ? undefined : [parts[0]?.[1]];
  const own = schema.additionalProperties === false ? [['colour', 'red'] as const] : [];
  const all = [...parts, ...own];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** What Kubernetes defines, and Kubernetes checks: pods' templates are free below these. */
const FREE = /^\/config\/pools\/0\/template\/spec(\/|$)/;

const described = HELM === undefined ? describe.skip : describe;

test('each map of the values knows its keys, but for what Kubernetes defines (H1)', () => {
  const loose = placesOf(SCHEMA).filter(({ at, isStrict }) => !isStrict && !FREE.test(at));
  expect(loose).toEqual([]);
});

described('helm refuses an unknown key (H1; needs helm)', () => {
  const strict = placesOf(SCHEMA).filter(({ isStrict }) => isStrict);
  let refusal = '';
  beforeAll(() => {
    try {
      renderChart({ release: 'paddock', namespace: 'paddock', set: mistaken(SCHEMA) as object });
    } catch (error) {
      refusal = String(error);
    }
  });

  test.each(strict)("at '$at', and says which keys there are", ({ at, keys }) => {
    const allowed = keys.toSorted().join(', ');
    expect(refusal).toContain(`at '${at}': additional properties 'colour' not allowed`);
    expect(refusal).toContain(
      `at '${at}': value must be 'a map with no other keys than ${allowed}'`,
    );
  });

  test('but none in `global`, which is of the chart above', () => {
    const set = { ...LEAST, global: { imageRegistry: 'registry.example.com', colour: {} } };
    expect(renderChart({ release: 'paddock', namespace: 'paddock', set })).not.toEqual([]);
  });
});
