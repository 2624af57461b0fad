import {
  type Document,
  isAlias,
  isCollection,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';

/** A thousand pools have 300 KB if they share their common parts. */
const MOST_CHARACTERS = 512 * 1024;

/** For each alias the library searches all anchors. */
const MOST_ALIASES = 5_000;

/**
 * Counts values behind aliases too: several hundred pools may share one template, but a few lines
 * must not unfold into millions.
 */
const MOST_VALUES = 200_000;

/**
 * The content of a YAML text with aliases and merge keys (`<<`) followed, or all its problems with
 * their lines. The time is bounded for any text: it may change while services run.
 */
export function readYaml(source: string): { content?: unknown; errors: string[] } {
  if (source.length > MOST_CHARACTERS)
    return { errors: [`there are more than ${MOST_CHARACTERS} characters`] };
  try {
    return readShort(source);
  } catch (error) {
    return { errors: [error instanceof Error ? error.message : String(error)] };
  }
}

function readShort(source: string): { content?: unknown; errors: string[] } {
  const lineCounter = new LineCounter();
  // The library compares each key with all others of its mapping.
  const document = parseDocument(source, {
    merge: true,
    uniqueKeys: false,
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
  });
  const at = ({ position, what }: Mistake) => `line ${lineCounter.linePos(position).line}: ${what}`;
  const errors = [
    ...document.errors.map(whatIsWrong),
    ...repeatedKeys(document),
    ...aliasesWithoutAnchor(document),
  ].map(at);
  if (errors.length > 0) return { errors };
  const tooMany = tooManyOf(document);
  if (tooMany !== undefined) return { errors: [`there are more than ${tooMany}`] };
  return { content: withoutHolders(document.toJS({ maxAliasCount: -1 })), errors: [] };
}

function tooManyOf(document: Document): string | undefined {
  let aliases = 0;
  visit(document, { Alias: () => void (aliases += 1) });
  if (aliases > MOST_ALIASES) return `${MOST_ALIASES} aliases`;
  return unfoldedSize(document.contents) > MOST_VALUES
    ? `${MOST_VALUES} values, counting those behind an alias each time`
    : undefined;
}

interface Mistake {
  /** In characters from the beginning. */
  readonly position: number;
  readonly what: string;
}

/** Uses the library's words where they make sense to the writer of the file. */
const whatIsWrong = ({ code, message, pos: [position] }: YAMLError): Mistake => ({
  position,
  what: code === 'MULTIPLE_DOCS' ? 'a second document begins (---); there must be one' : message,
});

function repeatedKeys(document: Document): Mistake[] {
  const repeated: Mistake[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        // The value of a merge key is a symbol: it may occur twice.
        if (!isScalar(key)) continue;
        if (seen.has(key.value))
          repeated.push({
            position: key.range?.[0] ?? 0,
            what: `the key \`${key.source}\` stands here a second time`,
          });
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

function aliasesWithoutAnchor(document: Document): Mistake[] {
  const anchors = new Set<string>();
  const missing: Mistake[] = [];
  visit(document, {
    Node: (_key, node) => {
      if ('anchor' in node && node.anchor !== undefined) anchors.add(node.anchor);
    },
    Alias: (_key, { source, range }) => {
      if (!anchors.has(source))
        missing.push({
          position: range?.[0] ?? 0,
          what: `there is no anchor &${source} before *${source}`,
        });
    },
  });
  return missing;
}

/** How many values a node unfolds into; `sizes` has the numbers for the anchors before it. */
function unfoldedSize(node: unknown, sizes = new Map<string, number>()): number {
  if (isAlias(node)) return sizes.get(node.source) ?? 1;
  if (isPair(node)) return unfoldedSize(node.key, sizes) + unfoldedSize(node.value, sizes);
  const inner = isCollection(node) ? node.items : [];
  const size = inner.reduce((sum: number, item) => sum + unfoldedSize(item, sizes), 1);
  if (isNode(node) && 'anchor' in node && node.anchor !== undefined) sizes.set(node.anchor, size);
  return size;
}

/**
 * Top-level keys that begin with `x-` belong to the writer, as in many other files: a place for
 * shared anchors.
 */
function withoutHolders(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return Object.fromEntries(Object.entries(content).filter(([key]) => !key.startsWith('x-')));
}
