import type { Node, SourceFile } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import {
  API,
  type Checker,
  type Type,
  TypeFlags,
  type TypeReference,
} from 'typescript/unstable/sync';

/** A raw statement whose rows have a type. */
export interface Site {
  /** `file:line:column` of the word `execute`, or of where the text begins, as in a stack. */
  readonly at: string;
  /** What the code says of a row. */
  readonly row: Type;
}

export interface Source {
  readonly checker: Checker;
  /** The exported values, with their types. */
  readonly exports: ReadonlyMap<string, Type>;
  readonly sites: readonly Site[];
}

/**
 * Opens projects with the compiler, by their configuration files. TypeScript calls its API unstable:
 * the lockfile says which one this is.
 */
export function openSources(projects: readonly string[]) {
  const api = new API({ cwd: process.cwd() });
  const snapshot = api.updateSnapshot({ openProjects: [...projects] });
  return {
    close: () => api.close(),
    read(file: string): Source {
      const project = snapshot.getDefaultProjectForFile(file);
      const source = project?.program.getSourceFile(file);
      if (project === undefined || source === undefined)
        throw new Error(`No project has ${file}: open its tsconfig.json.`);
      const { checker } = project;
      return { checker, exports: exportsOf(checker, source), sites: sitesIn(checker, source) };
    },
  };
}

function exportsOf(checker: Checker, source: SourceFile): Map<string, Type> {
  const module = checker.getSymbolAtLocation(source);
  const found = module === undefined ? [] : checker.getExportsOfModule(module);
  return new Map(
    found.flatMap((symbol) => {
      const type = symbol.valueDeclaration && checker.getTypeOfSymbol(symbol);
      return type === undefined ? [] : [[symbol.name, type] as const];
    }),
  );
}

function sitesIn(checker: Checker, source: SourceFile): Site[] {
  const sites: Site[] = [];
  const add = (row: Type | undefined, at: Node): void => {
    const { line, character } = source.getLineAndCharacterOfPosition(at.getStart(source));
    if (row !== undefined && (row.flags & (TypeFlags.Unknown | TypeFlags.TypeParameter)) === 0)
      sites.push({ at: `${source.fileName}:${line + 1}:${character + 1}`, row });
  };
  const visit = (node: Node): void => {
    if (is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      const statement = checker.getTypeAtLocation(expression);
      if (name.text === 'execute' && statement?.getSymbol()?.name === 'RawBuilder')
        add(checker.getTypeArguments(statement as TypeReference)[0], name);
    } else if (is.isTaggedTemplateExpression(node) && is.isCallExpression(node.tag))
      for (const row of node.tag.typeArguments ?? [])
        add(checker.getTypeAtLocation(row), node.template);
    node.forEachChild(visit);
  };
  visit(source);
  return sites;
}
