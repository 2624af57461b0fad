import type { Node, SourceFile } from 'typescript/unstable/ast';
import { isCallExpression, isPropertyAccessExpression } from 'typescript/unstable/ast/is';
import {
  API,
  type Checker,
  type Type,
  TypeFlags,
  type TypeReference,
} from 'typescript/unstable/sync';

/** A call of `execute` on a raw statement whose rows have a type. */
export interface Site {
  /** `file:line:column` of the word `execute`, as in a stack. */
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
    found
      .filter(({ valueDeclaration }) => valueDeclaration !== undefined)
      .flatMap((symbol) => {
        const type = checker.getTypeOfSymbol(symbol);
        return type === undefined ? [] : [[symbol.name, type] as const];
      }),
  );
}

function sitesIn(checker: Checker, source: SourceFile): Site[] {
  const sites: Site[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      const statement = name.text === 'execute' ? checker.getTypeAtLocation(expression) : undefined;
      if (statement?.getSymbol()?.name === 'RawBuilder') {
        const [row] = checker.getTypeArguments(statement as TypeReference);
        const { line, character } = source.getLineAndCharacterOfPosition(name.getStart(source));
        if (row !== undefined && (row.flags & TypeFlags.Unknown) === 0)
          sites.push({ at: `${source.fileName}:${line + 1}:${character + 1}`, row });
      }
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return sites;
}
