import { expect, test } from "vitest";

import { chatHelp, type Choices, complete, isForCortex, parseChatCommand } from "./chat-commands.ts";

const CHOICES: Choices = {
  sessions: async () => ["agent:main:main", "work", "workshop"],
  turns: async () => ["01A", "01B"],
  profiles: async () => ["offline"],
  requests: () => ["01R"],
};

test("what the chat does itself is a command of its own", () => {
  expect(parseChatCommand("/sessions ")).toEqual({ kind: "sessions" });
  expect(parseChatCommand("/QUIT")).toEqual({ kind: "quit" });
  expect(parseChatCommand("/switch work")).toEqual({ kind: "switch", session: "work" });
  expect(parseChatCommand("/fork 2 other")).toEqual({ kind: "fork", line: "/fork 2 other" });
});

test("everything else goes its way: to Cortex, or to the agent", () => {
  for (const line of [
    "hello",
    "/status",
    "/tool Read",
    " /quit",
    "/quit\nhello",
    "/",
    "/quitter",
    "/toString",
  ])
    expect(parseChatCommand(line)).toBeUndefined();
});

test("what Cortex answers itself makes no agent work", () => {
  for (const line of ["/status", "/QUEUE collect", "!thread pair a letter"])
    expect(isForCortex(line)).toBe(true);
  for (const line of ["hello", "/tool Read", " /status", "/new\nhello"])
    expect(isForCortex(line)).toBe(false);
});

test("a command that is not understood says how it is written", () => {
  for (const line of ["/switch", "/switch a b", "/sessions all"])
    expect(() => parseChatCommand(line)).toThrow(
      expect.objectContaining({ code: "usage", hint: expect.stringContaining("Usage: /") }),
    );
});

test("Tab goes on as far as there is no choice, and shows the choices", async () => {
  expect(await complete("/sw", CHOICES)).toEqual({ text: "/switch ", choices: [] });
  expect(await complete("/s", CHOICES)).toEqual({ text: "/s", choices: ["/sessions", "/status", "/switch"] });
  expect(await complete("/switch w", CHOICES)).toEqual({
    text: "/switch work",
    choices: ["work", "workshop"],
  });
  expect(await complete("/fork 01B", CHOICES)).toEqual({ text: "/fork 01B ", choices: [] });
  expect(await complete("/queue fo", CHOICES)).toEqual({ text: "/queue followup ", choices: [] });
  expect(await complete("/profile of", CHOICES)).toEqual({ text: "/profile offline ", choices: [] });
  expect(await complete("/approve ", CHOICES)).toEqual({ text: "/approve 01R ", choices: [] });
  expect(await complete("!th", CHOICES)).toEqual({ text: "!thread ", choices: [] });
});

test("Tab changes nothing where nothing is known", async () => {
  for (const text of ["hello wo", "/nothing", "/switch a b", "/status "])
    expect(await complete(text, CHOICES)).toEqual({ text, choices: [] });
});

test("the help names every command", () => {
  for (const word of ["help", "sessions", "switch", "turns", "fork", "costs", "abort", "quit"])
    expect(chatHelp()).toContain(`/${word}`);
});
