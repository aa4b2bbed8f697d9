import { expect, test } from "vitest";

import type { OutgoingFile } from "../model/extras.ts";
import { carriedBy } from "./parts.ts";

const file: OutgoingFile = {
  sha256: "a".repeat(64),
  name: "plan.pdf",
  contentType: "application/pdf",
  bytes: 8,
};
const button = { label: "Yes", data: "yes" };
const poll = { question: "Lunch?", options: ["Soup", "Salad"] };

test("a thread goes first, files and a poll last, and between them the text has the edit and the buttons", () => {
  const extras = { thread: { name: "Plans" }, files: [file], poll, buttons: [button], edits: "7" };
  expect([0, 1, 2, 3, 4].map((place) => carriedBy(place, 5, extras))).toEqual([
    { part: { kind: "thread", name: "Plans" } },
    { edits: "7" },
    { buttons: [button] },
    { part: { kind: "file", ...file } },
    { part: { kind: "poll", ...poll } },
  ]);
});

test("one text has everything that belongs to a text", () => {
  expect(carriedBy(0, 1, { buttons: [button], edits: "7", embed: { title: "Plan" } })).toEqual({
    buttons: [button],
    edits: "7",
    embed: { title: "Plan" },
  });
});
