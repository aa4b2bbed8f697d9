import { expect, test } from "vitest";

import { parseTeamCommand, TEAM_USAGE } from "./chat-commands.ts";

test.each([
  ["!team", { kind: "status", agent: undefined }],
  ["!team status", { kind: "status", agent: undefined }],
  ["!team status Billing Dev", { kind: "status", agent: "Billing Dev" }],
  ["!team list", { kind: "list" }],
  ["!team tick", { kind: "tick", agent: undefined }],
  ["!team tick dev", { kind: "tick", agent: "dev" }],
  ["!team briefing", { kind: "briefing" }],
  ["!team review", { kind: "review" }],
  ["!team housekeeping", { kind: "housekeeping" }],
  ["!team dispatch dev: Add tests", { kind: "dispatch", agent: "dev", title: "Add tests", body: undefined }],
  [
    "!team dispatch Billing Dev: Fix: this\nFirst line.\n\nLast line.\n",
    { kind: "dispatch", agent: "Billing Dev", title: "Fix: this", body: "First line.\n\nLast line." },
  ],
])("%j is a command", (text, expected) => {
  expect(parseTeamCommand(text)).toEqual(expected);
});

test.each(["!teams", "the !team", "!thread list", "team", ""])("%j is a message", (text) => {
  expect(parseTeamCommand(text)).toBeUndefined();
});

test.each([
  "!team nope",
  "!team list all",
  "!team dispatch",
  "!team dispatch dev Add tests",
  "!team dispatch : x",
  "!team dispatch dev:",
])("%j is told how it is written", (text) => {
  expect(() => parseTeamCommand(text)).toThrow(
    expect.objectContaining({ code: "usage", hint: expect.stringContaining(TEAM_USAGE) }),
  );
});
