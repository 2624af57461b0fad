import * as client from '@kubernetes/client-node';
import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { closestName } from '@paddock/runtime/closest-name';

/** A field that the API does not have. */
export interface UnknownField {
  /** As the API server writes it: `containers[0].imagePulPolicy`. */
  readonly path: string;
  /** The field that was probably meant. */
  readonly meant: string | undefined;
}

/**
 * The fields of a PodSpec that the client's types lack; an API server drops them, unless it is newer. Keys without a value are passed over.
 */
export const unknownPodFields = (spec: unknown): UnknownField[] => unknownIn(spec, client.V1PodSpec.name, '');

function unknownIn(value: unknown, type: string, path: string): UnknownField[] {
  const element = ELEMENT.exec(type)?.[1] ?? VALUE.exec(type)?.[1];
  if (element !== undefined) {
    const items = asList(value).map((item, index) => [`${path}[${index}]`, item] as const);
    const entries = Object.entries(asRecord(value)).map(([key, item]) => [`${path}.${key}`, item] as const);
    return [...items, ...entries].flatMap(([at, item]) => unknownIn(item, element, at));
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

/** How the client names the types of lists and of mappings. */
const ELEMENT = /^Array<(.+)>$/;
const VALUE = /^\{ \[key: string\]: (.+); \}$/;

/** The fields of one of the client's types with theirs; undefined for what has none, such as text. */
function fieldsOf(type: string): ReadonlyMap<string, string> | undefined {
  const model = (client as Record<string, unknown>)[type];
  if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) return undefined;
  const attributes = (model.getAttributeTypeMap as () => readonly { baseName: string; type: string }[])();
  return new Map(attributes.map((attribute) => [attribute.baseName, attribute.type]));
}
