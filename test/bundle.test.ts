/** The program as it is published: bundled, so that a process loads few files. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Argument, parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

import { MODULES } from "../packaging/bundle.ts";

const SOURCE = fileURLToPath(new URL("../src", import.meta.url));

/** Where the address of a module stands for the place of the program's packages, which is the same in every file of it. */
const FIND_PACKAGES: readonly string[] = [
  "hooks/run/load-hook.ts",
  "hooks/run/read-only-database.ts",
  "hooks/run/resolve-imports.ts",
  "model/frontmatter.ts",
  "model/markdown.ts",
];
const OWN_FILES = "model/own-files.ts";
const FINDERS: readonly string[] = ["ownFile", "ownModule", "ownTypes"];

interface Uses {
  /** The files that ask for their own address. */
  readonly addresses: readonly string[];
  /** What is passed to each function of `own-files.ts`. Undefined: it is computed. */
  readonly passed: Readonly<Record<string, readonly (string | undefined)[]>>;
}

const uses = readUses();

test("every module that is started or loaded by its path is a file of the bundle, and no other is listed", () => {
  const { ownModule, ownTypes } = uses.passed;
  expect(new Set(ownModule)).toEqual(new Set(MODULES));
  expect(MODULES).toEqual(expect.arrayContaining([...new Set(ownTypes)]));
  expect(MODULES.filter((name) => !existsSync(join(SOURCE, `${name}.ts`)))).toEqual([]);
});

test("no other module asks for its own address, which is another one in the bundle", () => {
  expect(uses.addresses.filter((file) => file !== OWN_FILES).toSorted()).toEqual(FIND_PACKAGES);
});

test("the other files that are found by their path are in the package", () => {
  const { files } = JSON.parse(readFileSync(join(SOURCE, "../package.json"), "utf8")) as {
    files: readonly string[];
  };
  const published = (path: string): boolean => path === "package.json" || files.includes(path.split("/")[0]!);
  const { ownFile = [] } = uses.passed;
  expect(ownFile).toEqual(expect.arrayContaining(["bin/cortex.js", "hooks", "package.json"]));
  expect(ownFile.filter((path) => path !== undefined && !published(path))).toEqual([]);
});

function readUses(): Uses {
  const addresses: string[] = [];
  const passed = new Map(FINDERS.map((name) => [name, [] as (string | undefined)[]]));
  const names = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  for (const file of names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    let asks = false;
    new Visitor({
      MetaProperty({ meta }) {
        asks ||= meta.name === "import";
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type === "Identifier" && file !== OWN_FILES)
          passed.get(callee.name)?.push(textOf(given[0]));
      },
    }).visit(parseSync(file, readFileSync(join(SOURCE, file), "utf8")).program);
    if (asks) addresses.push(file);
  }
  return { addresses, passed: Object.fromEntries(passed) };
}

function textOf(argument: Argument | undefined): string | undefined {
  return argument?.type === "Literal" && typeof argument.value === "string" ? argument.value : undefined;
}
