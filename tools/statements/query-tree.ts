/** A node of the tree into which PostgreSQL parses a statement. */
export interface TreeNode {
  readonly kind: string;
  readonly fields: Readonly<Record<string, Tree>>;
}
export type Tree = TreeNode | readonly Tree[] | string | undefined;

/** Reads what `debug_print_parse` prints: `{VAR :varno 1 :varnullingrels (b 2) …}`. */
export function parseTree(text: string): Tree {
  const tokens = text.match(/"(?:\\.|[^"\\])*"|[(){}]|(?:\\.|[^\s(){}\\])+/gs) ?? [];
  let at = 0;
  const next = (): string => tokens[at++] ?? '}';
  function value(): Tree {
    const token = next();
    if (token === '{') return node();
    if (token !== '(') return token === '<>' ? undefined : token.replaceAll(/^"|"$|\\(?=.)/gs, '');
    const items: Tree[] = [];
    while (tokens[at] !== ')' && at < tokens.length) items.push(value());
    at++;
    return items;
  }
  function node(): TreeNode {
    const kind = next();
    const fields: Record<string, Tree> = {};
    while (tokens[at] !== '}' && at < tokens.length) {
      const field = next().slice(1);
      fields[field] = value();
      // A constant is a length and bytes.
      while (tokens[at] !== '}' && !tokens[at]?.startsWith(':') && at < tokens.length) value();
    }
    at++;
    return { kind, fields };
  }
  return value();
}

export const isNode = (tree: Tree): tree is TreeNode =>
  typeof tree === 'object' && !Array.isArray(tree);
export const listOf = (tree: Tree): readonly Tree[] => (Array.isArray(tree) ? tree : []);
export const nodesOf = (tree: Tree): TreeNode[] =>
  isNode(tree) ? [tree] : listOf(tree).filter(isNode);
export const wordOf = (tree: Tree): string => (typeof tree === 'string' ? tree : '');
