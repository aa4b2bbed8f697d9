import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { CortexError } from "../model/errors.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import {
  DROP_POLICIES,
  INTERRUPT_POLICIES,
  MAX_DEBOUNCE_MS,
  MAX_QUEUE_CAP,
} from "../model/queue-settings.ts";
import { parseCommand, USAGE } from "./command.ts";

test.each([
  ["/queue", { kind: "show-queue" }],
  ["/QUEUE  ", { kind: "show-queue" }],
  ["/queue collect", { kind: "set-queue", settings: { mode: "collect" } }],
  ["/queue Steer+Backlog", { kind: "set-queue", settings: { mode: "steer-backlog" } }],
  [
    "/queue collect debounce:1s cap:20 drop:old interrupt:drop",
    {
      kind: "set-queue",
      settings: { mode: "collect", debounceMs: 1_000, cap: 20, drop: "old", onInterrupt: "drop" },
    },
  ],
  ["/queue\tcap:1\tDROP:New", { kind: "set-queue", settings: { cap: 1, drop: "new" } }],
  ["/queue debounce:0", { kind: "set-queue", settings: { debounceMs: 0 } }],
  ["/queue debounce:250", { kind: "set-queue", settings: { debounceMs: 250 } }],
  ["/queue debounce:0.5s", { kind: "set-queue", settings: { debounceMs: 500 } }],
  ["/queue debounce:2m", { kind: "set-queue", settings: { debounceMs: 120_000 } }],
  ["/queue debounce:1h", { kind: "set-queue", settings: { debounceMs: MAX_DEBOUNCE_MS } }],
  [`/queue cap:${MAX_QUEUE_CAP}`, { kind: "set-queue", settings: { cap: MAX_QUEUE_CAP } }],
  ["/queue reset", { kind: "reset-queue" }],
  ["/queue default", { kind: "reset-queue" }],
  ["/profile", { kind: "show-profile" }],
  ["/profile Fast", { kind: "set-profile", profile: "Fast" }],
  ["/profile reset", { kind: "reset-profile" }],
  ["/new", { kind: "new" }],
  ["/fork", { kind: "fork", turn: undefined, label: undefined }],
  ["/fork 2 other", { kind: "fork", turn: "2", label: "other" }],
  ["/status", { kind: "status" }],
  ["/help", { kind: "help" }],
])("%j is a command", (line, command) => {
  expect(parseCommand(line)).toEqual({ command, message: undefined });
});

test.each([
  ["/new\nhello", "hello"],
  ["/new\r\nhello\r\nthere", "hello\r\nthere"],
  ["/new \n\n  hello \n", "\n  hello \n"],
  ["/new\n/queue collect", "/queue collect"],
])("what stands below the command is a message, word for word (%j)", (content, message) => {
  expect(parseCommand(content)).toEqual({ command: { kind: "new" }, message });
});

test.each(["/new\n", "/new\n \t\n\r\n"])("nothing below it is no message (%j)", (content) => {
  expect(parseCommand(content)?.message).toBeUndefined();
});

test.each([
  "hello",
  "",
  "/",
  "//queue",
  " /queue collect",
  "\n/queue",
  "/queues",
  "/queue-mode",
  "/queue:collect",
  "/tool List {}",
  "/etc/passwd is readable",
  "/new/thing",
  "/constructor",
  "/tostring",
  "see /queue collect",
])("%j is a message", (content) => {
  expect(parseCommand(content)).toBeUndefined();
});

test.each([
  ["/queue shout", 'Unknown queue mode "shout"'],
  ["/queue debounce 1s", 'Unknown queue mode "debounce"'],
  ["/queue collect reset", 'Unknown queue mode "reset"'],
  ["/queue collect steer", 'Duplicate setting "steer"'],
  ["/queue cap:1 cap:2", 'Duplicate setting "cap:2"'],
  ["/queue cap:0", 'Invalid cap "0"'],
  ["/queue cap:", 'Invalid cap ""'],
  [`/queue cap:${MAX_QUEUE_CAP + 1}`, "Invalid cap"],
  ["/queue cap:1.5", 'Invalid cap "1.5"'],
  ["/queue cap:-3", 'Invalid cap "-3"'],
  ["/queue cap:1e3", 'Invalid cap "1e3"'],
  ["/queue debounce:1d", "The debounce 1d exceeds one hour"],
  [`/queue debounce:${MAX_DEBOUNCE_MS + 1}`, "exceeds one hour"],
  ["/queue debounce:soon", 'Invalid duration "soon"'],
  ["/queue debounce:-1s", 'Invalid duration "-1s"'],
  ["/queue drop:all", 'Unknown drop policy "all": use summarize, old, new'],
  ["/queue interrupt:stop", 'Unknown interrupt policy "stop"'],
  ["/queue colour:red", 'Unknown queue setting "colour:red"'],
  ["/queue constructor:red", 'Unknown queue setting "constructor:red"'],
  ["/profile fast slow", 'Unexpected word "slow"'],
  ["/new york", '/new takes no arguments, got "york"'],
  ["/help me", "/help takes no arguments"],
])("%j is refused, and it is said how it is written", (line, message) => {
  const hint = expect.stringContaining(`Usage: ${USAGE[/\w+/.exec(line)![0] as keyof typeof USAGE]}`);
  expect(() => parseCommand(`${line}\nand a message`)).toThrow(
    expect.objectContaining({ code: "request_invalid", message: expect.stringContaining(message), hint }),
  );
});

describe("whatever is written", () => {
  const word = fc.oneof(
    fc.constantFrom(
      ...QUEUE_MODES,
      ...DROP_POLICIES,
      "reset",
      "cap:",
      "debounce:",
      "drop:",
      "interrupt:",
      ":",
      "\u0000",
    ),
    fc
      .tuple(fc.constantFrom("cap:", "debounce:", "drop:", "interrupt:", "x:"), fc.string())
      .map((parts) => parts.join("")),
    fc.string({ unit: "binary" }),
  );
  const content = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .tuple(fc.constantFrom("/queue", "/profile", "/new", "/status", "/help", "/other"), fc.array(word))
      .map(([command, words]) => [command, ...words].join(" ")),
  );

  test("is a command, a message or a clear error", () => {
    fc.assert(
      fc.property(content, (text) => {
        const outcome = outcomeOf(text);
        expect(outcome === undefined || text.startsWith("/")).toBe(true);
        expect(outcome instanceof Error && !(outcome instanceof CortexError)).toBe(false);
        expect(outcome instanceof CortexError ? outcome.message.length : 0).toBeLessThan(300);
      }),
      { numRuns: 2_000 },
    );
  });

  test("settings that were written are read, in any order", () => {
    const settings = fc.record({
      mode: fc.constantFrom(...QUEUE_MODES),
      debounceMs: fc.integer({ min: 0, max: MAX_DEBOUNCE_MS }),
      cap: fc.integer({ min: 1, max: MAX_QUEUE_CAP }),
      drop: fc.constantFrom(...DROP_POLICIES),
      onInterrupt: fc.constantFrom(...INTERRUPT_POLICIES),
    });
    fc.assert(
      fc.property(settings, fc.nat(), (wanted, turn) => {
        const words = [
          wanted.mode,
          `debounce:${wanted.debounceMs}ms`,
          `cap:${wanted.cap}`,
          `drop:${wanted.drop}`,
          `interrupt:${wanted.onInterrupt}`,
        ];
        const rotated = [...words.slice(turn % 5), ...words.slice(0, turn % 5)];
        expect(parseCommand(`/queue ${rotated.join(" ")}`)?.command).toEqual({
          kind: "set-queue",
          settings: wanted,
        });
      }),
    );
  });
});

function outcomeOf(text: string): unknown {
  try {
    return parseCommand(text);
  } catch (error) {
    return error;
  }
}
