import { isNode, listOf, nodesOf, type Tree, type TreeNode, wordOf } from './query-tree.ts';

/** What the catalog says. */
export interface Catalog {
  /** As `16400.2`: columns that are NOT NULL. */
  readonly required: ReadonlySet<string>;
  /** Names of functions, by their oids. */
  readonly functions: ReadonlyMap<string, string>;
}

const placeOf = ({ fields }: TreeNode): string =>
  [fields['varlevelsup'], fields['varno'], fields['varattno']].map(wordOf).join('.');

/** The query of an expression, and those around it. */
type Scope = readonly TreeNode[];

/** Functions that take null and never answer it. */
const TOTAL = /^(jsonb?_build_|concat|format$|num_n|array_append|array_cat|to_jsonb?$|row_to_json)/;
/** Aggregates and window functions that count. */
const COUNTS = /^(count|row_number|rank|dense_rank|ntile|percent_rank|cume_dist)$/;

/** The columns that a query returns. */
function outputOf({ fields }: TreeNode): TreeNode[] {
  const { commandType, targetList, returningList } = fields;
  return nodesOf(commandType === '1' ? targetList : returningList).filter(
    ({ fields: entry }) => entry['resjunk'] !== 'true',
  );
}

/** Which columns of a statement may be null: those of which nothing proves the contrary. */
export function nullableColumns(query: TreeNode, catalog: Catalog): boolean[] {
  const scope = [query];
  return outputOf(query).map((_, column) => !isColumnThere(scope, column, new Set()));

  /** Of a union, a column is there if each part has it. */
  function isColumnThere(inner: Scope, column: number, asked: Set<TreeNode>): boolean {
    const [of] = inner;
    if (of === undefined) return false;
    // A recursive part adds what its first part has.
    if (asked.has(of)) return true;
    const seen = new Set(asked).add(of);
    if (isNode(of.fields['setOperations']))
      return nodesOf(of.fields['rtable'])
        .filter(({ fields }) => fields['rtekind'] === '1')
        .every(({ fields }) =>
          isColumnThere([...nodesOf(fields['subquery']), ...inner], column, seen),
        );
    const entry = outputOf(of)[column];
    return entry !== undefined && isThere(entry.fields['expr'], inner, seen);
  }

  function isThere(expression: Tree, inner: Scope, asked: Set<TreeNode>): boolean {
    if (!isNode(expression)) return false;
    const { kind, fields } = expression;
    const there = (tree: Tree): boolean => isThere(tree, inner, asked);
    switch (kind) {
      case 'VAR':
        return isVariableThere(expression, inner, asked);
      // The caller's; its type says what it is.
      case 'PARAM':
      case 'NULLTEST':
      case 'BOOLEANTEST':
      case 'DISTINCTEXPR':
      case 'ARRAYEXPR':
      case 'ROWEXPR':
      case 'SQLVALUEFUNCTION':
      case 'JSONCONSTRUCTOREXPR':
        return true;
      case 'CONST':
        return fields['constisnull'] === 'false';
      case 'COALESCEEXPR':
      case 'MINMAXEXPR':
        return nodesOf(fields['args']).some(there);
      case 'CASEEXPR':
        return (
          there(fields['defresult']) &&
          nodesOf(fields['args']).every((when) => there(when.fields['result']))
        );
      case 'AGGREF':
      case 'WINDOWFUNC':
        return isAggregateThere(expression, inner, there);
      case 'SUBLINK':
        return isSublinkThere(expression, inner, asked);
      // Functions and casts mostly answer null to null, and only then.
      default:
        return (
          TOTAL.test(catalog.functions.get(wordOf(fields['funcid'])) ?? '') ||
          nodesOf(fields['args'] ?? fields['arg']).every(there)
        );
    }
  }

  function isAggregateThere(
    { fields }: TreeNode,
    [of]: Scope,
    there: (tree: Tree) => boolean,
  ): boolean {
    const name = catalog.functions.get(wordOf(fields['aggfnoid'] ?? fields['winfnoid'])) ?? '';
    if (COUNTS.test(name)) return true;
    // A group, as a window, has a row.
    const { groupClause, havingQual } = of?.fields ?? {};
    const hasRow =
      fields['winfnoid'] !== undefined ||
      listOf(groupClause).length > 0 ||
      havingQual !== undefined;
    const args = nodesOf(fields['args']).map((arg) => arg.fields['expr'] ?? arg);
    return (
      hasRow &&
      fields['aggfilter'] === undefined &&
      !/^(lag|lead|nth_value)$/.test(name) &&
      (name.endsWith('_agg') || args.every(there))
    );
  }

  function isSublinkThere({ fields }: TreeNode, inner: Scope, asked: Set<TreeNode>): boolean {
    if (fields['subLinkType'] !== '4') return true;
    const [of] = nodesOf(fields['subselect']);
    if (of === undefined) return false;
    const { hasAggs, groupClause, havingQual, rtable } = of.fields;
    const hasOneRow =
      (hasAggs === 'true' && listOf(groupClause).length === 0 && havingQual === undefined) ||
      listOf(rtable).length === 0;
    return hasOneRow && isColumnThere([of, ...inner], 0, asked);
  }

  function isVariableThere({ fields }: TreeNode, scope_: Scope, asked: Set<TreeNode>): boolean {
    const inner = scope_.slice(Number(fields['varlevelsup']));
    const [of] = inner;
    if (of === undefined) return false;
    const place = placeOf({ kind: 'VAR', fields: { ...fields, varlevelsup: '0' } });
    const proven = provenBy(of.fields['jointree']);
    if (proven.some((variable) => placeOf(variable) === place)) return true;
    // An outer join may put null here, unless a condition asks for a row of the same table.
    const isOuter = listOf(fields['varnullingrels']).length > 1;
    if (isOuter && !proven.some((variable) => variable.fields['varno'] === fields['varno']))
      return false;
    const table = nodesOf(of.fields['rtable'])[Number(fields['varno']) - 1];
    const column = Number(fields['varattno']) - 1;
    if (table === undefined) return false;
    // The whole row.
    if (column < 0) return true;
    const from = table.fields;
    const nth = (tree: Tree): Tree => listOf(tree)[column];
    switch (wordOf(from['rtekind'])) {
      case '0':
        return catalog.required.has(`${wordOf(from['relid'])}.${column + 1}`);
      case '1':
        return isColumnThere([...nodesOf(from['subquery']), ...inner], column, asked);
      case '2': {
        const alias = nth(from['joinaliasvars']);
        // Of a full join with USING, one side is there.
        return isNode(alias) && alias.kind === 'COALESCEEXPR'
          ? nodesOf(alias.fields['args']).every((side) =>
              isThere({ ...side, fields: { ...side.fields, varnullingrels: [] } }, inner, asked),
            )
          : isThere(alias, inner, asked);
      }
      case '9':
        return isThere(nth(from['groupexprs']), inner, asked);
      // Rows that a function makes of an array or of JSON; the caller's, mostly.
      case '3':
        return true;
      case '5':
        return listOf(from['values_lists']).every((row) => isThere(nth(row), inner, asked));
      case '6': {
        const around = inner.slice(Number(from['ctelevelsup']));
        const cte = nodesOf(around[0]?.fields['cteList']).find(
          ({ fields: named }) => named['ctename'] === from['ctename'],
        );
        return isColumnThere([...nodesOf(cte?.fields['ctequery']), ...around], column, asked);
      }
      default:
        return false;
    }
  }
}

/** Columns without which a condition of WHERE, or of an inner join, would not be true. */
function provenBy(tree: Tree): TreeNode[] {
  const proven: TreeNode[] = [];
  const add = (condition: Tree): void => {
    for (const part of nodesOf(condition)) {
      const { kind, fields } = part;
      if (kind === 'VAR' && fields['varlevelsup'] === '0') proven.push(part);
      else if (kind === 'BOOLEXPR' && fields['boolop'] !== 'or') add(fields['args']);
      else if (kind === 'NULLTEST' && fields['nulltesttype'] === '1') add(fields['arg']);
      else if (kind === 'RELABELTYPE' || kind === 'COERCEVIAIO') add(fields['arg']);
      else if (kind === 'SCALARARRAYOPEXPR') add(listOf(fields['args'])[0]);
      else if (kind === 'OPEXPR') add(fields['args']);
    }
  };
  const walk = (part: Tree): void => {
    for (const { kind, fields } of nodesOf(part)) {
      if (kind === 'FROMEXPR') walk(fields['fromlist']);
      else if (kind === 'JOINEXPR' && fields['jointype'] === '0') {
        walk(fields['larg']);
        walk(fields['rarg']);
      } else continue;
      add(fields['quals']);
    }
  };
  walk(tree);
  return proven;
}
