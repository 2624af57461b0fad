import {
  type Checker,
  SymbolFlags,
  type Type,
  TypeFlags,
  type TypeReference,
} from 'typescript/unstable/sync';
import type { Column } from './describe.ts';

/** How the columns that PostgreSQL answers differ from the type of a row. */
export function differences(checker: Checker, row: Type, columns: readonly Column[]) {
  const byName = new Map(columns.map((column) => [column.name, column]));
  return checker.getPropertiesOfType(row).flatMap((property) => {
    const column = byName.get(property.name);
    if (column === undefined && (property.flags & SymbolFlags.Optional) !== 0) return [];
    const type = checker.getTypeOfSymbol(property);
    const says =
      column === undefined ? ['is not among the columns'] : phrases(checker, type, column);
    return says.map((phrase) => ({ column: property.name, says: phrase }));
  });
}

function phrases(checker: Checker, type: Type | undefined, column: Column): string[] {
  const parts = type?.isUnionType() === true ? type.getTypes() : type === undefined ? [] : [type];
  const isAny = (flags: TypeFlags): boolean => parts.some((part) => (part.flags & flags) !== 0);
  if (isAny(TypeFlags.Any | TypeFlags.Unknown)) return [];
  const said = new Set(
    parts
      .filter(({ flags }) => (flags & (TypeFlags.Null | TypeFlags.Undefined)) === 0)
      .map((part) => kindOf(checker, part)),
  );
  // JSON is what the code that wrote it says, but no date.
  const fits = column.kind === 'json' ? !said.has('Date') : said.has(column.kind);
  return [
    ...(fits ? [] : [`is ${column.kind}, not ${[...said].join(' or ')}`]),
    ...(column.isNullable && !isAny(TypeFlags.Null) ? ['may be null'] : []),
  ];
}

function kindOf(checker: Checker, type: Type): string {
  if (type.flags & TypeFlags.StringLike) return 'string';
  if (type.flags & TypeFlags.NumberLike) return 'number';
  if (type.flags & TypeFlags.BooleanLike) return 'boolean';
  if (type.isUnionType()) return kindOf(checker, type.getTypes()[0] ?? type);
  if (checker.isArrayType(type)) {
    const [element = type] = checker.getTypeArguments(type as TypeReference);
    return `${element === type ? 'object' : kindOf(checker, element)}[]`;
  }
  return type.getSymbol()?.name === 'Date' ? 'Date' : 'object';
}
