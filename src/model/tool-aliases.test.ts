import { expect, test } from "vitest";

import { canonicalToolName, canonicalToolParams, TOOL_ALIASES } from "./tool-aliases.ts";
import { workspaceTools } from "../agents/tools/workspace-tools.ts";

test("other names lead to the tool that does the same", () => {
  expect(canonicalToolName("file_search")).toBe("Grep");
  expect(canonicalToolName("shell")).toBe("Bash");
});

test("a name that is no alias stays, whatever it is", () => {
  for (const name of ["Read", "mcp__x__y", "constructor", "__proto__"]) {
    expect(canonicalToolName(name)).toBe(name);
    expect(canonicalToolParams(name, { a: 1 })).toEqual({ a: 1 });
  }
});

test("a tree is a list with a depth, unless the call gives another", () => {
  expect(canonicalToolParams("file_tree", { path: "src" })).toEqual({ depth: 3, path: "src" });
  expect(canonicalToolParams("file_tree", { depth: 5 })).toEqual({ depth: 5 });
  expect(canonicalToolParams("file_tree", "src")).toBe("src");
});

test("every alias of a file tool names one that there is", () => {
  const names = new Set(workspaceTools.map(({ name }) => name));
  const targets = Object.entries(TOOL_ALIASES).flatMap(([alias, { name }]) =>
    alias.startsWith("file_") || alias === "shell" ? [name] : [],
  );
  expect(targets.length).toBeGreaterThan(5);
  expect(targets.filter((name) => !names.has(name))).toEqual([]);
});
