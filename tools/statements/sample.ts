import type { Kysely } from 'kysely';
import {
  type Checker,
  SignatureKind,
  type Type,
  TypeFlags,
  type TypeReference,
} from 'typescript/unstable/sync';

/** Deep enough for all that statements take. */
const DEEPEST = 6;

const isAbsent = ({ flags }: Type): boolean =>
  (flags & (TypeFlags.Undefined | TypeFlags.Null)) !== 0;

/**
 * Makes values of types. `bare` ones lack what may be absent or null, and of a union are the last
 * kind instead of the first.
 */
export function sampler(checker: Checker, db: Kysely<unknown>, bare: boolean) {
  const known: Readonly<Record<string, () => unknown>> = {
    Date: () => new Date(),
    Kysely: () => db,
    Transaction: () => db,
    RawBuilder: () => {
      throw new Error('A part of a statement: its callers have the whole.');
    },
    AbortSignal: () => new AbortController().signal,
    Map: () => new Map(),
    ReadonlyMap: () => new Map(),
    Set: () => new Set(),
    ReadonlySet: () => new Set(),
  };

  function sample(type: Type, depth = 0): unknown {
    const { flags } = type;
    if (type.isLiteralType()) return type.value;
    if (type.isUnionType()) return sampleOfUnion(type.getTypes(), depth);
    if (flags & TypeFlags.StringLike) return '00000000-0000-4000-8000-000000000000';
    if (flags & TypeFlags.NumberLike) return 1;
    if (flags & TypeFlags.BooleanLike) return true;
    if (flags & TypeFlags.Null) return null;
    if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return undefined;
    if (depth > DEEPEST) return {};
    const name = type.getSymbol()?.name ?? '';
    if (Object.hasOwn(known, name)) return known[name]?.();
    if (name === 'Promise') return Promise.resolve(sample(argument(type), depth + 1));
    if (checker.isArrayType(type) || checker.isTupleType(type))
      return checker.getTypeArguments(type as TypeReference).map((of) => sample(of, depth + 1));
    const [call] = checker.getSignaturesOfType(type, SignatureKind.Call);
    if (call !== undefined) {
      const returned = checker.getReturnTypeOfSignature(call);
      return () => returned && sample(returned, depth + 1);
    }
    return Object.fromEntries(
      checker.getPropertiesOfType(type).map((property) => {
        const of = checker.getTypeOfSymbol(property);
        return [property.name, of && sample(of, depth + 1)];
      }),
    );
  }

  function sampleOfUnion(types: readonly Type[], depth: number): unknown {
    const absent = types.find(isAbsent);
    const present = types.filter((type) => !isAbsent(type));
    const chosen = bare ? (absent ?? present.at(-1)) : (present[0] ?? absent);
    return chosen && sample(chosen, depth);
  }

  const argument = (type: Type): Type =>
    checker.getTypeArguments(type as TypeReference)[0] ?? checker.getUnknownType();

  return sample;
}
