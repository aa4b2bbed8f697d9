import { expect, test } from "vitest";

import { type Reading, readingOf as read } from "./convergence.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";

type Ends = string | readonly string[];

const ends = (names: Ends) => [names].flat().map(parseEndpoint);
const converge = (from: Ends, to: Ends, onMarker?: Reading) => ({
  from: ends(from),
  to: ends(to),
  condition: { type: "convergence", onMarker },
});
type Edge = Omit<ReturnType<typeof converge>, "condition"> & {
  readonly condition: { readonly type: string };
};

const readingOf = (edges: readonly Edge[], index: number, enter = (end: Endpoint) => end): Reading =>
  read(edges[index]!, edges, enter);

const always = (from: Ends, to: Ends) => ({ from: ends(from), to: ends(to), condition: { type: "always" } });

test("on an edge that leads forward the marker means to go on", () => {
  expect(readingOf([converge("coder:implement", "coder:review")], 0)).toBe("advance");
});

test("on an edge that leads back the marker means to stop", () => {
  const edges = [always("worker", "reviewer"), converge("reviewer", "worker")];
  expect(readingOf(edges, 1)).toBe("stop");
});

test("an edge leads back also over several others", () => {
  const edges = [converge("d", "a"), always("a", "b"), always("b", "c"), always("c", "d")];
  expect(readingOf(edges, 0)).toBe("stop");
});

test("the edge itself does not count as a way back", () => {
  expect(readingOf([converge("a", "b"), always("b", "c")], 0)).toBe("advance");
});

test("on an edge from an agent to itself the marker means to stop", () => {
  expect(readingOf([converge("writer", "writer")], 0)).toBe("stop");
});

test("an edge back from any stage is one from a bare agent", () => {
  const edges = [always("coder", "reviewer"), converge("reviewer", "coder:retry")];
  expect(readingOf(edges, 1)).toBe("stop");
});

test("a bare agent is entered at its entry stage, from where other stages may be out of reach", () => {
  const enter = ({ agent, stage }: Endpoint) => ({
    agent,
    stage: agent === "coder" ? (stage ?? "implement") : stage,
  });
  const edges = [converge("reviewer", "coder"), always("coder:review", "reviewer")];
  expect(readingOf(edges, 0, enter)).toBe("advance");
  expect(readingOf([...edges, always("coder:implement", "coder:review")], 0, enter)).toBe("stop");
});

test("a way back leads through a fan-out and its join", () => {
  const edges = [
    converge("judge", "split"),
    always("split", ["left", "right"]),
    always(["left", "right"], "judge"),
  ];
  expect(readingOf(edges, 0)).toBe("stop");
});

test("what the edge states wins over where it leads", () => {
  expect(readingOf([converge("a", "b", "stop")], 0)).toBe("stop");
  expect(readingOf([always("a", "b"), converge("b", "a", "advance")], 1)).toBe("advance");
});

test("a circle among the other rules ends the search", () => {
  expect(readingOf([converge("a", "b"), always("b", "c"), always("c", "b")], 0)).toBe("advance");
});
