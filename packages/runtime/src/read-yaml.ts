import { type Document, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';

/** Several hundred pools may share one template by an alias; a few lines that unfold into millions are refused. */
const MOST_ALIASES = 10_000;

/** The content of a YAML text, with aliases and merge keys (`<<`) followed; or all that is wrong with it, each with its line. */
export function readYaml(source: string): { content?: unknown; errors: string[] } {
  const lineCounter = new LineCounter();
  const document = parseDocument(source, { merge: true, lineCounter, prettyErrors: false, logLevel: 'error' });
  const at = (position: number, what: string) => `line ${lineCounter.linePos(position).line}: ${what}`;
  const errors = [
    ...document.errors.map((error) => at(error.pos[0], whatIsWrong(error, source))),
    ...aliasesWithoutAnchor(document).map(({ name, position }) => at(position, `there is no anchor &${name} before *${name}`)),
  ];
  if (errors.length > 0) return { errors };
  try {
    return { content: withoutHolders(document.toJS({ maxAliasCount: MOST_ALIASES })), errors: [] };
  } catch (error) {
    return { errors: [error instanceof Error ? error.message : String(error)] };
  }
}

/** The library's own words where they are a writer's and not a programmer's. */
function whatIsWrong({ code, message, pos: [position] }: YAMLError, source: string): string {
  if (code === 'DUPLICATE_KEY') return `the key \`${/^[^\s:]*/.exec(source.slice(position))?.[0]}\` stands here a second time`;
  return code === 'MULTIPLE_DOCS' ? 'a second document begins (---); there must be one' : message;
}

function aliasesWithoutAnchor(document: Document): { name: string; position: number }[] {
  const anchors = new Set<string>();
  const missing: { name: string; position: number }[] = [];
  visit(document, {
    Node: (_key, node) => {
      if ('anchor' in node && node.anchor !== undefined) anchors.add(node.anchor);
    },
    Alias: (_key, { source, range }) => {
      if (!anchors.has(source)) missing.push({ name: source, position: range?.[0] ?? 0 });
    },
  });
  return missing;
}

/** Keys at the top that begin with `x-` are the writer's own, as in many other files: a place for what anchors share. */
function withoutHolders(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return Object.fromEntries(Object.entries(content).filter(([key]) => !key.startsWith('x-')));
}
