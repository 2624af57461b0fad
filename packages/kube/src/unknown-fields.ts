import * as client from '@kubernetes/client-node';
import { isRecord } from '@paddock/domain/pools/as-record';
import { closestName } from '@paddock/runtime/closest-name';

/** A field that the Kubernetes API does not have. */
export interface UnknownField {
  /** In the API server's form: `containers[0].imagePulPolicy`. */
  readonly path: string;
  /** The field that the author probably meant. */
  readonly meant: string | undefined;
}

/**
 * The fields of a PodSpec that the client's types lack. An API server drops them, unless it is
 * newer. Keys without a value do not count.
 */
export const unknownPodFields = (spec: unknown): UnknownField[] =>
  unknownIn(spec, client.V1PodSpec.name, '');

function unknownIn(value: unknown, type: string, path: string): UnknownField[] {
  const element = ELEMENT.exec(type)?.slice(1).join('');
  if (element !== undefined) {
    const at = (key: string) => (Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    const items = Object.entries(typeof value === 'object' && value !== null ? value : {});
    return items.flatMap(([key, item]) => unknownIn(item, element, at(key)));
  }
  const fields = fieldsOf(type);
  if (fields === undefined || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const known = fields.get(key);
    if (known !== undefined) return unknownIn(item, known, at);
    return item === null ? [] : [{ path: at, meant: closestName(key, fields.keys()) }];
  });
}

/** The client's names of list and mapping types. */
const ELEMENT = /^(?:Array<(.+)>|\{ \[key: string\]: (.+); \})$/;

/**
 * The fields of a client type, with their types; undefined for types without fields, such as text.
 */
function fieldsOf(type: string): ReadonlyMap<string, string> | undefined {
  const model = (client as Record<string, unknown>)[type];
  if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) return undefined;
  const attributes = (
    model.getAttributeTypeMap as () => readonly { baseName: string; type: string }[]
  )();
  return new Map(attributes.map((attribute) => [attribute.baseName, attribute.type]));
}
