import { expect, test } from "vitest";

import { testTool } from "../../test/support/home.ts";
import { EVERYTHING } from "../../test/support/tool-context.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Tool, ToolContext } from "../model/tool.ts";
import { type BeforeCall, NO_TOOL_HOOKS, type ToolHooks } from "../model/tool-hook.ts";
import type { Trust } from "../model/trust.ts";
import { type CodeMode, codeModeFor, type Gate, judgeCall, marksOf, marksOfResult } from "./gate.ts";

const NOTHING_KNOWN: Trust = { untrusted: false, private: false, outward: false };
const CONTEXT = {} as ToolContext; // handed on to hooks, and looked at by nobody else

interface Circumstances {
  readonly permissions?: Partial<Permissions>;
  readonly mode?: CodeMode;
  readonly trust?: Partial<Trust>;
  readonly hook?: Partial<BeforeCall>;
}

function gate({ permissions, mode = "plain", trust, hook }: Circumstances): Gate {
  const hooks: ToolHooks = {
    ...NO_TOOL_HOOKS,
    before: async ({ params }) => ({ decision: "allow", params, notes: [], ...hook }),
  };
  return {
    permissions: { ...EVERYTHING, ...permissions },
    codeMode: mode,
    readTrust: async () => ({ ...NOTHING_KNOWN, ...trust }),
    hooks,
  };
}

function toolOf(fields: Pick<Partial<Tool>, "trust" | "runsCode" | "asks" | "asksForOthers">): Tool {
  return { ...testTool("Work", async () => ({ kind: "done", result: { text: "" } })), ...fields };
}

const judge = (fields: Parameters<typeof toolOf>[0], circumstances: Circumstances) =>
  judgeCall(toolOf(fields), { a: 1 }, CONTEXT, gate(circumstances));

test("a call that nobody objects to is made as the model wants it", async () => {
  expect(await judge({}, {})).toEqual({ kind: "make", params: { a: 1 }, notes: [], marks: [] });
});

test.each<[string, Circumstances, RegExp]>([
  ["the tool is denied", { permissions: { tools: { allow: [["*"]], deny: ["Wo*"] } } }, /not allowed/],
  [
    "one list does not name it",
    { permissions: { tools: { allow: [["*"], ["Read"]], deny: [] } } },
    /not allowed/,
  ],
  ["a hook refuses", { hook: { decision: "deny", reason: "not today" } }, /^not today$/],
  [
    "a hook refuses what is also to be asked for",
    { permissions: { ask: ["*"] }, hook: { decision: "deny" } },
    /hook/,
  ],
])("a call is refused where %s", async (_, circumstances, reason) => {
  expect(await judge({}, circumstances)).toMatchObject({
    kind: "refuse",
    reason: expect.stringMatching(reason),
  });
});

test.each<[string, Circumstances, RegExp]>([
  ["the persona asks before it", { permissions: { ask: ["W*"] } }, /ask` list includes/],
  ["a hook wants it", { hook: { decision: "ask", reason: "it is late" } }, /it is late/],
  [
    "a hook's yes is not a person's",
    { permissions: { ask: ["Work"] }, hook: { decision: "allow" } },
    /ask` list includes/,
  ],
])("a person is asked where %s", async (_, circumstances, reason) => {
  expect(await judge({}, circumstances)).toMatchObject({
    kind: "ask",
    reason: expect.stringMatching(reason),
  });
});

test("a tool that asks says why, also where its persona may do everything and a hook agrees", async () => {
  const asks = "a hook that runs decides for itself";
  expect(await judge({ asks }, { hook: { decision: "allow" } })).toMatchObject({ kind: "ask", reason: asks });
  expect(await judge({ asks }, { hook: { decision: "deny" } })).toMatchObject({ kind: "refuse" });
});

test("a tool that asks for others does so only where somebody else has a say", async () => {
  const asksForOthers = "it is the owner's";
  expect(await judge({ asksForOthers }, {})).toMatchObject({ kind: "make" });
  expect(await judge({ asksForOthers }, { trust: { untrusted: true } })).toMatchObject({
    kind: "ask",
    reason: asksForOthers,
  });
});

test("what is asked for is the call as hooks have changed it", async () => {
  const hook = { params: { b: 2 }, notes: ["note"] };
  expect(await judge({}, { permissions: { ask: ["Work"] }, hook })).toMatchObject({
    kind: "ask",
    params: { b: 2 },
    notes: ["note"],
  });
});

test.each<[CodeMode, string]>([
  ["sandboxed", "make"],
  ["plain", "make"],
  ["asks", "ask"],
  ["refuses", "refuse"],
])("where commands are %s, the judgement is: %s", async (mode, kind) => {
  expect(await judge({ runsCode: true }, { mode })).toMatchObject({ kind });
  expect(await judge({}, { mode })).toMatchObject({ kind: "make" });
});

test.each<[Partial<Trust>, "make" | "ask"]>([
  [{}, "make"],
  [{ untrusted: true }, "make"],
  [{ private: true }, "make"],
  [{ outward: true }, "make"],
  [{ untrusted: true, outward: true }, "make"],
  [{ private: true, outward: true }, "make"],
  [{ untrusted: true, private: true }, "ask"],
  [{ untrusted: true, private: true, outward: true }, "ask"],
])("with %o, the judgement of an outward call is: %s", async (trust, kind) => {
  expect(await judge({ trust: { outward: true } }, { trust })).toMatchObject({ kind });
  expect(await judge({ trust: { private: true, untrusted: true } }, { trust })).toMatchObject({
    kind: "make",
  });
});

test("a call marks the session with what it brings, before it is made", async () => {
  const brings = { trust: { untrusted: true, outward: true } } as const;
  expect(await judge(brings, { trust: { outward: true } })).toMatchObject({ marks: ["untrusted"] });
  expect(await marksOf(toolOf(brings), [], gate({}))).toEqual(["untrusted", "outward"]);
});

test("a tool that does not say what it brings counts as one that reads, quotes strangers and sends", async () => {
  const { trust: _, ...undeclared } = toolOf({});
  const judged = (trust: Partial<Trust>) => judgeCall(undeclared as Tool, {}, CONTEXT, gate({ trust }));
  expect(await judged({})).toMatchObject({ kind: "make", marks: ["untrusted", "private", "outward"] });
  expect(await judged({ untrusted: true })).toMatchObject({ kind: "ask" });
});

test("an error that tells of files marks the session, where a result would not", async () => {
  const tool: Tool = { ...toolOf({}), errorTrust: { private: true } };
  expect(await marksOfResult(tool, { isError: true, notes: [] }, gate({}))).toEqual(["private"]);
  expect(await marksOfResult(tool, { isError: false, notes: [] }, gate({}))).toEqual([]);
});

test("what a hook of the owner says may quote anything, and marks the session", async () => {
  const both = ["untrusted", "private"];
  expect(await judge({}, { hook: { notes: ["3 problems in secret.ts"] } })).toMatchObject({ marks: both });
  const refused = { kind: "refuse", marks: both };
  expect(await judge({}, { hook: { decision: "deny", reason: "secret.ts has an error" } })).toMatchObject(
    refused,
  );
  expect(await judge({}, { hook: { decision: "deny" } })).toMatchObject({ kind: "refuse", marks: [] });
  expect(await marksOf(toolOf({}), ["a note"], gate({}))).toEqual(both);
  expect(await marksOfResult(toolOf({}), { isError: false, notes: ["a note"] }, gate({}))).toEqual(both);
});

test("a program without a sandbox can read and send anything, and counts as doing so", async () => {
  expect(await judge({ runsCode: true }, { mode: "plain" })).toMatchObject({ marks: ["private", "outward"] });
  expect(await judge({ runsCode: true }, { mode: "sandboxed" })).toMatchObject({ marks: [] });
  const both = { untrusted: true, private: true };
  expect(await judge({ runsCode: true }, { mode: "plain", trust: both })).toMatchObject({ kind: "ask" });
  expect(await judge({ runsCode: true }, { mode: "sandboxed", trust: both })).toMatchObject({ kind: "make" });
});

test("one call that reads and sends is enough, where others have a say", async () => {
  const trust = { untrusted: true };
  expect(await judge({ runsCode: true }, { mode: "plain", trust })).toMatchObject({ kind: "ask" });
  expect(await judge({ runsCode: true }, { mode: "sandboxed", trust })).toMatchObject({ kind: "make" });
});

test("what lies in the folders may be anybody's words, except where the owner lets commands run plainly", async () => {
  const reading = { trust: { untrusted: true, private: true } } as const;
  for (const mode of ["sandboxed", "asks", "refuses"] as const)
    expect(await judge(reading, { mode })).toMatchObject({ marks: ["untrusted", "private"] });
  expect(await judge(reading, { mode: "plain" })).toMatchObject({ marks: ["private"] });
  const fetching = { trust: { untrusted: true, outward: true } } as const;
  expect(await judge(fetching, { mode: "plain" })).toMatchObject({ marks: ["untrusted", "outward"] });
});

test.each([
  ["sandboxed", "sandboxed", "sandboxed"],
  ["asks", "asks", "owner-only"],
  ["plain", "plain", "owner-only"],
  ["refuses", "refuses", "refuses"],
] as const)("commands that are %s: %s for the owner, %s for others", (mode, owners, others) => {
  expect(codeModeFor(mode, { isByOthers: false })).toBe(owners);
  expect(codeModeFor(mode, { isByOthers: true })).toBe(others);
});

test("without a sandbox, others run no commands, whatever may be approved", async () => {
  const code = { runsCode: true, trust: { untrusted: true, private: true } } as const;
  expect(await judge(code, { mode: "owner-only" })).toMatchObject({
    kind: "refuse",
    reason: expect.stringContaining("messages from others than the owner"),
  });
  expect(await judge({}, { mode: "owner-only" })).toMatchObject({ kind: "make" });
});
