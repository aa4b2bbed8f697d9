import { expect, test } from "vitest";

import { testTool } from "../../test/support/home.ts";
import { EVERYTHING } from "../../test/support/tool-context.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Said, Tool, ToolContext } from "../model/tool.ts";
import { type BeforeCall, NO_TOOL_HOOKS, type ToolHooks } from "../model/tool-hook.ts";
import { declared, NO_TRUST, type ToolTrust, type Trust } from "../model/trust.ts";
import { broughtBefore, broughtBy, type CodeMode, codeModeFor, type Gate, judgeCall } from "./gate.ts";

/** What the tool of these tests brings with this declaration. */
const brought = (trust: ToolTrust): Trust => declared("Work", trust);
/** A session that knows words of a stranger, data of the owner, or both. */
const known = (trust: Partial<Record<"untrusted" | "private", true>> & { outward?: true }): Trust => ({
  ...NO_TRUST,
  untrusted: trust.untrusted === true ? ["guest:telegram:9"] : [],
  private: trust.private === true ? ["owner"] : [],
  outward: trust.outward === true,
});
const CONTEXT = {} as ToolContext; // handed on to hooks, and looked at by nobody else

interface Circumstances {
  /** When the model requested the call. Absent: as it is now. */
  readonly before?: Partial<Trust>;
  readonly isHeard?: boolean;
  readonly permissions?: Partial<Permissions>;
  readonly mode?: CodeMode;
  readonly trust?: Partial<Trust>;
  readonly hook?: Partial<BeforeCall>;
  readonly audience?: string;
  readonly confinedTo?: string;
}

function gate({
  permissions,
  mode = "plain",
  trust,
  hook,
  audience = "owner",
  confinedTo,
  before = trust ?? {},
  isHeard = false,
}: Circumstances): Gate {
  const hooks: ToolHooks = {
    ...NO_TOOL_HOOKS,
    before: async ({ params }) => ({ decision: "allow", params, notes: [], ...hook }),
  };
  return {
    permissions: { ...EVERYTHING, ...permissions },
    codeMode: mode,
    readTrust: async () => ({ ...NO_TRUST, ...trust }),
    trustAtChoice: () => ({ ...NO_TRUST, ...before }),
    hasBeenHeard: async () => isHeard,
    hooks,
    audience,
    confinedTo,
  };
}

function toolOf(
  fields: Pick<
    Partial<Tool>,
    | "trust"
    | "runsCode"
    | "asks"
    | "asksForOthers"
    | "labels"
    | "tells"
    | "says"
    | "sends"
    | "errorTrust"
    | "runsProgram"
  >,
): Tool {
  return { ...testTool("Work", async () => ({ kind: "done", result: { text: "" } })), ...fields };
}

const judge = (fields: Parameters<typeof toolOf>[0], circumstances: Circumstances) =>
  judgeCall(toolOf(fields), { a: 1 }, CONTEXT, gate(circumstances));

test("a call that nobody objects to is made as the model wants it", async () => {
  expect(await judge({}, {})).toEqual({ kind: "make", params: { a: 1 }, notes: [], brings: NO_TRUST });
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
  expect(await judge({ asksForOthers }, { trust: known({ untrusted: true }) })).toMatchObject({
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

test.each<[Parameters<typeof known>[0], "make" | "ask"]>([
  [{}, "make"],
  [{ untrusted: true }, "make"],
  [{ private: true }, "make"],
  [{ outward: true }, "make"],
  [{ untrusted: true, outward: true }, "make"],
  [{ private: true, outward: true }, "make"],
  [{ untrusted: true, private: true }, "ask"],
  [{ untrusted: true, private: true, outward: true }, "ask"],
])("with %o, the judgement of an outward call is: %s", async (marks, kind) => {
  const trust = known(marks);
  expect(await judge({ trust: { outward: true } }, { trust })).toMatchObject({ kind });
  expect(await judge({ trust: { private: true, untrusted: true } }, { trust })).toMatchObject({
    kind: "make",
  });
});

test("an outward call is made unasked if its model did not choose what it says under the influence of others", async () => {
  const sends = { trust: { outward: true }, says: (): Said => ({ kind: "text" }) } as const;
  const trust = known({ untrusted: true, private: true });
  const kindOf = async (circumstances: Circumstances, tool: Parameters<typeof toolOf>[0] = sends) =>
    (await judge(tool, { trust, ...circumstances })).kind;
  expect(await kindOf({ before: known({ private: true }) })).toBe("make");
  expect(await kindOf({ isHeard: true })).toBe("make");

  expect(await kindOf({})).toBe("ask");
  expect(await kindOf({ before: known({ untrusted: true }) })).toBe("ask");
  const { says: _, ...unsaid } = sends; // it may send more than its parameters
  expect(await kindOf({ isHeard: true, before: {} }, unsaid)).toBe("ask");
  expect(await kindOf({ isHeard: true, before: {}, hook: { params: { b: 2 } } })).toBe("ask");
});

test("what is found for others leads nowhere", async () => {
  const seeks = { trust: { outward: true }, says: (): Said => ({ kind: "query", text: "q" }) } as const;
  const trust = known({ untrusted: true });
  expect(await judge(seeks, { trust })).toMatchObject({ kind: "make", isLed: true });
  for (const free of [{ trust, isHeard: true }, { trust, before: {} }, {}])
    expect(await judge(seeks, free)).not.toHaveProperty("isLed");
});

test("a person may send what is private to them alone", async () => {
  const ada = ["person:ada"];
  const outward = { trust: { outward: true } } as const;
  expect(await judge(outward, { trust: { untrusted: ada, private: ada } })).toMatchObject({ kind: "make" });
  const both = { untrusted: ada, private: ["person:ada", "person:bob"] };
  expect(await judge(outward, { trust: both })).toMatchObject({ kind: "ask" });
});

test.each<[string, "make" | "ask"]>([
  ["Work", "ask"],
  ["W*", "ask"],
  ["Read", "make"],
  ["!Read,Grep", "ask"],
  ["!Work,Read", "make"],
])("where an author may not use %s, the judgement is: %s", async (denied, kind) => {
  expect(await judge({}, { trust: { denied: [denied] } })).toMatchObject({ kind });
});

test("a call labels the session with what it brings, before it is made", async () => {
  const brings = { trust: { untrusted: true, outward: true } } as const;
  expect(await judge(brings, {})).toMatchObject({ brings: brought(brings.trust) });
  expect(broughtBefore(toolOf(brings), "plain", [])).toEqual(brought({ outward: true, untrusted: true }));
});

test("a tool whose results have labels brings what these say, and at most what it declares where they have none", async () => {
  const tool: Tool = { ...toolOf({ trust: { untrusted: true, private: true } }), labels: true };
  expect(broughtBefore(tool, "sandboxed", [])).toEqual(NO_TRUST);
  const label = { untrusted: ["person:ada"], private: [], denied: [] };
  expect(broughtBy(tool, "sandboxed", { text: "", label }, [])).toEqual({ ...label, outward: false });
  expect(broughtBy(tool, "sandboxed", { text: "" }, [])).toEqual(brought({ untrusted: true, private: true }));
});

test("a tool that does not say what it brings counts as one that reads, quotes strangers and sends", async () => {
  const { trust: _, ...undeclared } = toolOf({});
  const judged = (trust: Partial<Trust>) => judgeCall(undeclared as Tool, {}, CONTEXT, gate({ trust }));
  const all = brought({ untrusted: true, private: true, outward: true });
  expect(await judged({})).toMatchObject({ kind: "make", brings: all });
  expect(await judged(known({ untrusted: true }))).toMatchObject({ kind: "ask" });
});

test("an error that tells of files labels the session, where a result would not", () => {
  const tool: Tool = { ...toolOf({}), errorTrust: { private: true } };
  expect(broughtBy(tool, "plain", { text: "", isError: true }, [])).toEqual(brought({ private: true }));
  expect(broughtBy(tool, "plain", { text: "" }, [])).toEqual(NO_TRUST);
});

test("what a hook of the owner says may quote anything, and labels the session", async () => {
  const both = brought({ untrusted: true, private: true });
  expect(await judge({}, { hook: { notes: ["3 problems in secret.ts"] } })).toMatchObject({ brings: both });
  const refused = { kind: "refuse", brings: both };
  expect(await judge({}, { hook: { decision: "deny", reason: "secret.ts has an error" } })).toMatchObject(
    refused,
  );
  expect(await judge({}, { hook: { decision: "deny" } })).toMatchObject({ kind: "refuse", brings: NO_TRUST });
  expect(broughtBefore(toolOf({}), "plain", ["a note"])).toEqual(both);
  expect(broughtBy(toolOf({}), "plain", { text: "" }, ["a note"])).toEqual(both);
});

test("a program without a sandbox can read and send anything, and counts as doing so", async () => {
  const free = brought({ private: true, outward: true });
  expect(await judge({ runsCode: true }, { mode: "plain" })).toMatchObject({ brings: free });
  expect(await judge({ runsCode: true }, { mode: "sandboxed" })).toMatchObject({ brings: NO_TRUST });
  const trust = known({ untrusted: true, private: true });
  expect(await judge({ runsCode: true }, { mode: "plain", trust })).toMatchObject({ kind: "ask" });
  expect(await judge({ runsCode: true }, { mode: "sandboxed", trust })).toMatchObject({ kind: "make" });
});

test("one call that reads and sends is enough, where others have a say", async () => {
  const trust = known({ untrusted: true });
  expect(await judge({ runsCode: true }, { mode: "plain", trust })).toMatchObject({ kind: "ask" });
  expect(await judge({ runsCode: true }, { mode: "sandboxed", trust })).toMatchObject({ kind: "make" });
});

test("what lies in the folders may be anybody's words, except where the owner lets commands run plainly", async () => {
  const reading = { trust: { untrusted: true, private: true } } as const;
  for (const mode of ["sandboxed", "asks", "refuses"] as const)
    expect(await judge(reading, { mode })).toMatchObject({ brings: brought(reading.trust) });
  expect(await judge(reading, { mode: "plain" })).toMatchObject({ brings: brought({ private: true }) });
  const fetching = { trust: { untrusted: true, outward: true } } as const;
  expect(await judge(fetching, { mode: "plain" })).toMatchObject({ brings: brought(fetching.trust) });
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
    reason: expect.stringContaining("messages from anyone but the owner"),
  });
  expect(await judge({}, { mode: "owner-only" })).toMatchObject({ kind: "make" });
});

test("a call that runs a program of the owner's is never made for others without a sandbox", async () => {
  const program = { trust: {}, runsProgram: () => true } as const;
  const other = { trust: {}, runsProgram: () => false } as const;
  const free = brought({ private: true, outward: true });
  for (const mode of ["sandboxed", "asks", "plain"] as const)
    expect(await judge(program, { mode })).toMatchObject({ kind: "make", brings: free });
  for (const mode of ["refuses", "owner-only"] as const) {
    expect(await judge(program, { mode })).toMatchObject({ kind: "refuse" });
    expect(await judge(other, { mode })).toMatchObject({ kind: "make", brings: NO_TRUST });
  }
  expect(await judge(program, { confinedTo: "person:ada" })).toMatchObject({ kind: "refuse" });
  expect(await judge(program, { trust: known({ untrusted: true }) })).toMatchObject({ kind: "ask" });
});

test("what a hook makes of a call decides whether it runs a program", async () => {
  const tool = { trust: {}, runsProgram: (params: Json) => JSON.stringify(params) === '{"type":"words"}' };
  const hook = { params: { type: "words" } };
  expect(await judge(tool, { mode: "owner-only" })).toMatchObject({ kind: "make" });
  expect(await judge(tool, { mode: "owner-only", hook })).toMatchObject({ kind: "refuse" });
});

test("a turn that is kept to one person's data makes no call that brings in the data of others", async () => {
  const confinedTo = "person:ada";
  const reading = { trust: { private: true } } as const;
  expect(await judge(reading, { confinedTo })).toMatchObject({
    kind: "refuse",
    reason: expect.stringContaining("only use data of person:ada"),
  });
  // Its result says what it holds.
  expect(await judge({ ...reading, labels: true }, { confinedTo })).toMatchObject({ kind: "make" });
  const hook = { notes: ["see the diary"], decision: "allow" } as const;
  expect(await judge({}, { confinedTo, hook })).toMatchObject({ kind: "make", notes: [], brings: NO_TRUST });
});

test("what others would read needs a yes if they may not know what the conversation holds", async () => {
  const telling = { tells: true } as const;
  const asked = { kind: "ask", reason: expect.stringContaining("person:bob would read the text") };
  for (const reader of ["owner", "person:ada", "room:telegram:-1"])
    expect(await judge(telling, { audience: "person:bob", trust: { private: [reader] } })).toMatchObject(
      asked,
    );
  for (const audience of ["person:bob", "owner"])
    expect(await judge(telling, { audience, trust: { private: ["person:bob"] } })).toMatchObject({
      kind: "make",
    });
});

test("what a call sends beside its parameters counts as data that it tells", async () => {
  const sends = (reader: string) => async () => ({ untrusted: [], private: [reader], denied: [] });
  const ofStranger = known({ untrusted: true });
  const outward = { outward: true } as const;
  const kindOf = async (reader: string, circumstances: Circumstances) =>
    (await judge({ trust: outward, sends: sends(reader) }, circumstances)).kind;
  expect(await kindOf("person:bob", {})).toBe("make");
  expect(await kindOf("person:bob", { trust: ofStranger })).toBe("ask");
  expect(await kindOf("guest:telegram:9", { trust: ofStranger })).toBe("make");
  expect(await kindOf("person:bob", { confinedTo: "person:ada" })).toBe("refuse");
  expect(await kindOf("person:ada", { confinedTo: "person:ada" })).toBe("make");
});

test("a call whose data cannot be judged is refused, and the reason counts as what errors of the tool reveal", async () => {
  const sends = async () => {
    throw new CortexError("path_forbidden", "The path is closed", { hint: "Use another." });
  };
  const tool = { trust: { outward: true }, errorTrust: { private: true }, sends } as const;
  expect(await judge(tool, {})).toEqual({
    kind: "refuse",
    reason: "The path is closed. Use another.",
    brings: brought({ private: true }),
  });
});
