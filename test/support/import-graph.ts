/**
 * What the files of a source tree import from each other, types included.
 *
 * The syntax tree is read, not the parser's list of imports: that list leaves out `import("./a.ts").Type`
 * and `export {} from "./a.ts"`. A file that does not parse is an error, because a reader that saw nothing
 * of it would report nothing wrong with it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { type Expression, parseSync, Visitor } from "oxc-parser";

export interface SourceTree {
  /** Paths below the root, with slashes. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly imports: readonly Import[];
}

export interface Import {
  readonly file: string;
  /** As it is written; undefined where it is computed when the program runs. */
  readonly specifier: string | undefined;
  /** Where a relative specifier leads: a path below the root, or one that starts with `..`. */
  readonly target: string | undefined;
  /** Nothing is left of it when the types are stripped. */
  readonly typeOnly: boolean;
}

const SOURCE = /\.[cm]?[jt]sx?$/;

export function readSourceTree(root: string): SourceTree {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const pathsOf = (wanted: (entry: (typeof entries)[number]) => boolean): string[] =>
    entries.filter(wanted).map(({ parentPath, name }) => pathBelow(root, join(parentPath, name)));

  const files = pathsOf((entry) => entry.isFile() && SOURCE.test(entry.name)).toSorted();
  return {
    folders: pathsOf((entry) => entry.isDirectory()).toSorted(),
    files,
    imports: files.flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8"))),
  };
}

/** Groups of files that import each other, directly or in a round: Tarjan's strongly connected components. */
export function findCycles({ imports }: Pick<SourceTree, "imports">): readonly (readonly string[])[] {
  const targets = Map.groupBy(imports, ({ file }) => file);
  const order = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const cycles: string[][] = [];

  for (const file of targets.keys()) {
    if (!order.has(file)) visit(file);
  }
  return cycles;

  /** Returns the earliest file on the path that can be reached from this one. */
  function visit(file: string): number {
    const number = order.size;
    let earliest = number;
    order.set(file, number);
    path.push(file);
    onPath.add(file);

    for (const { target } of targets.get(file) ?? []) {
      if (target === undefined) continue;
      if (!order.has(target)) earliest = Math.min(earliest, visit(target));
      else if (onPath.has(target)) earliest = Math.min(earliest, order.get(target)!);
    }
    if (earliest === number) close(file);
    return earliest;
  }

  function close(first: string): void {
    const group = path.splice(path.indexOf(first));
    for (const file of group) onPath.delete(file);
    const importsItself = targets.get(first)?.some(({ target }) => target === first) ?? false;
    if (group.length > 1 || importsItself) cycles.push(group.toSorted());
  }
}

function importsOf(file: string, text: string): Import[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]!.message}`);

  const imports: Import[] = [];
  const add = (specifier: string | undefined, typeOnly: boolean): void => {
    const isRelative = specifier !== undefined && /^\.\.?(\/|$)/.test(specifier);
    const target = isRelative ? posix.join(posix.dirname(file), specifier) : undefined;
    imports.push({ file, specifier, target, typeOnly });
  };
  new Visitor({
    // `import { type A }` still loads the module when the program runs; only `import type` does not.
    ImportDeclaration: ({ source, importKind }) => add(source.value, importKind === "type"),
    ExportAllDeclaration: ({ source, exportKind }) => add(source.value, exportKind === "type"),
    ExportNamedDeclaration: ({ source, exportKind }) => {
      if (source !== null) add(source.value, exportKind === "type");
    },
    ImportExpression: ({ source }) => add(literalText(source), false),
    TSImportType: ({ source }) => add(source.value, true),
  }).visit(program);
  return imports;
}

function literalText(expression: Expression): string | undefined {
  if (expression.type === "Literal" && typeof expression.value === "string") return expression.value;
  if (expression.type === "TemplateLiteral" && expression.expressions.length === 0) {
    return expression.quasis[0]?.value.cooked ?? undefined;
  }
  return undefined;
}

function pathBelow(root: string, path: string): string {
  return relative(root, path).replaceAll(sep, "/");
}
