import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { CortexError } from "../../model/errors.ts";
import { parseRelayCommand, RELAY_USAGE } from "./chat-command-syntax.ts";

test("a message that is no command is left alone", () => {
  const others = [
    "hello",
    "",
    "thread list",
    "!threads",
    "!threading on",
    "!cancelled",
    "say !thread list",
    "!Thread list",
  ];
  expect(others.map((text) => parseRelayCommand(text))).toEqual(others.map(() => undefined));
});

test("a name and a message start a relay", () => {
  expect(parseRelayCommand("!thread coder-review Implement user authentication for the API")).toEqual({
    kind: "start",
    name: "coder-review",
    message: "Implement user authentication for the API",
  });
});

test("a message may have several lines, and keeps them", () => {
  expect(parseRelayCommand("  !thread researcher\nSurvey papers:\n\n- touch\n")).toEqual({
    kind: "start",
    name: "researcher",
    message: "Survey papers:\n\n- touch",
  });
});

test("an agent is added with a message or without", () => {
  expect(parseRelayCommand("!thread add reviewer")).toEqual({
    kind: "add",
    agent: "reviewer",
    message: undefined,
  });
  expect(parseRelayCommand("!thread add critic Please focus on security implications")).toEqual({
    kind: "add",
    agent: "critic",
    message: "Please focus on security implications",
  });
});

test("without an id it is the relay of this place that is asked about", () => {
  expect(parseRelayCommand("!thread")).toEqual({ kind: "active" });
  expect(parseRelayCommand("!thread status")).toEqual({ kind: "status", id: undefined });
});

test("a relay is named by its id, however it was copied", () => {
  for (const id of ["thr_a1b2c3d4", "THR_A1B2C3D4", "`thr_a1b2c3d4`"])
    expect(parseRelayCommand(`!thread status ${id}`)).toEqual({ kind: "status", id: "thr_a1b2c3d4" });
});

test("relays are listed for this place, or all that run", () => {
  expect(parseRelayCommand("!thread list")).toEqual({ kind: "list", scope: "here" });
  expect(parseRelayCommand("!thread list --running")).toEqual({ kind: "list", scope: "running" });
});

test("agents and templates are listed", () => {
  expect(parseRelayCommand("!thread agents")).toEqual({ kind: "agents" });
  expect(parseRelayCommand("!thread templates")).toEqual({ kind: "templates" });
});

test("both commands cancel: what runs here, a relay, or everything", () => {
  for (const command of ["!thread cancel", "!cancel"]) {
    expect(parseRelayCommand(command)).toEqual({ kind: "cancel", which: "here" });
    expect(parseRelayCommand(`${command} thr_a1b2c3d4`)).toEqual({
      kind: "cancel",
      which: { id: "thr_a1b2c3d4" },
    });
    expect(parseRelayCommand(`${command} --all`)).toEqual({ kind: "cancel", which: "all" });
  }
});

test("what is wrong with a command is said, with all that there are", () => {
  const wrong: Record<string, string> = {
    "!thread coder-review": 'Missing message for "coder-review"',
    "!thread add": "Missing agent for !thread add",
    "!thread status thr_1": 'Invalid relay id "thr_1"',
    "!thread cancel everything": 'Invalid relay id "everything"',
    "!cancel thr_a1b2c3d4 thr_00000000": 'Invalid relay id "thr_a1b2c3d4 thr_00000000"',
    "!thread list all": 'Unexpected argument "all" of !thread list',
    "!thread agents now": 'Unexpected argument "now" of !thread agents',
    "!thread --help": 'Unknown option "--help" of !thread',
  };
  for (const [text, message] of Object.entries(wrong))
    expect(() => parseRelayCommand(text)).toThrow(
      expect.objectContaining({ code: "usage", message, hint: `Available commands:\n${RELAY_USAGE}` }),
    );
});

test("a long mistake is shown in part", () => {
  expect(() => parseRelayCommand(`!thread status ${"x".repeat(10_000)}`)).toThrow(
    /^Invalid relay id "x{182}…$/,
  );
});

test("every text is a command, none, or an error with the usage", () => {
  const words = fc.constantFrom(
    "!thread",
    "!cancel",
    "add",
    "list",
    "--all",
    "status",
    "cancel",
    "thr_00000000",
    "\n",
    "x",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
      expect(["command", "message", "usage"]).toContain(outcomeOf(parts.join(" ")));
    }),
  );
});

function outcomeOf(text: string): string {
  try {
    return parseRelayCommand(text) === undefined ? "message" : "command";
  } catch (error) {
    return (error as CortexError).code;
  }
}
