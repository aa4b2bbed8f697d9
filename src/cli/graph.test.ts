import { expect, test } from "vitest";

import { drawGraph, type GraphNode } from "./graph.ts";

/** `child>parent`, newest first; a name alone is a root. */
function draw(...edges: string[]): string {
  const nodes = edges.map((edge): GraphNode => {
    const [id, parent] = edge.split(">");
    return { id: id!, parent, label: id! };
  });
  return drawGraph(nodes).join("\n");
}

test("a thread is one column", () => {
  expect(draw("c>b", "b>a", "a")).toBe("* c\n* b\n* a");
});

test("branches join in the turn that both follow", () => {
  expect(draw("d>b", "c>b", "b>a", "a")).toBe(["* d", "| * c", "|/", "* b", "* a"].join("\n"));
});

test("a branch that joins farther to the left passes those in between", () => {
  expect(draw("e>a", "d>b", "c>a", "b", "a")).toBe(
    ["* e", "| * d", "| | * c", "| * | b", "|  /", "|/", "* a"].join("\n"),
  );
  expect(draw("e>b", "d>a", "c>b", "b>a", "a")).toBe(
    ["* e", "| * d", "| | * c", "|_|/", "* | b", "|/", "* a"].join("\n"),
  );
});

test("columns to the right move up when one to their left has joined", () => {
  expect(draw("f>b", "e>b", "d>a", "b>a", "a")).toBe(
    ["* f", "| * e", "| | * d", "|/ /", "* | b", "|/", "* a"].join("\n"),
  );
});

test("where a thread goes on but is not shown stands a colon", () => {
  expect(draw("c>b", "b>a")).toBe("* c\n* b\n:");
});

test("trees that have nothing to do with each other stand side by side while both are open", () => {
  expect(draw("d>b", "c>a", "b", "a")).toBe(["* d", "| * c", "* | b", " /", "* a"].join("\n"));
});
