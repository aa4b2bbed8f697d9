import { afterAll, expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { dispatch, event, toSession } from "../../test/support/sample.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { RouteWish } from "../model/target.ts";
import type { DispatchTarget } from "../store/store.ts";
import { forkLabel, resolveRoute } from "./resolve.ts";

const { config } = await loadFiles({
  "cortex.json": {
    agents: { main: {}, sage: { persona: "sage" }, scribe: { persona: "sage" } },
    personas: { atlas: {}, sage: {}, own: { mainSession: "Study" }, idle: {} },
  },
});

const empty = await openTestStore();
afterAll(() => empty[Symbol.asyncDispose]());

function resolve(route: RouteWish): Promise<DispatchTarget> {
  return resolveRoute(route, { store: empty.store, config, mintId: () => "01ABC" });
}

function to(label: string, agent = "main", persona = "atlas"): DispatchTarget {
  return {
    kind: "session",
    session: normalizeSessionKey(label),
    agent: agent as AgentId,
    persona: persona as PersonaId,
  };
}

test.each<[string, RouteWish, DispatchTarget]>([
  ["a message with no target goes to the main session", {}, to("agent:main:main")],
  ["`main` is the main session of the agent main", { session: "main" }, to("agent:main:main")],
  ["a short label is a session of the agent main", { session: "Work" }, to("work")],
  ["a key names its agent", { session: "agent:sage:dm:tyler" }, to("agent:sage:dm:tyler", "sage", "sage")],
  [
    "a session of a relay is the agent main's",
    { session: "thr:thr_0a1b2c3d:writer" },
    to("thr:thr_0a1b2c3d:writer"),
  ],
  ["a persona's messages go to its own main session", { persona: "own" }, to("study")],
  [
    "else to that of the first agent which has the persona",
    { persona: "sage" },
    to("agent:sage:main", "sage", "sage"),
  ],
  ["null is as good as nothing", { session: null, thread: null, persona: null }, to("agent:main:main")],
])("%s", async (_, route, target) => {
  expect(await resolve(route)).toEqual(target);
});

test("a thread is left to the store, with the label of a fork", async () => {
  expect(await resolve({ thread: "01TURN" })).toEqual({ kind: "turn", turn: "01TURN", forkAs: "fork-01abc" });
});

test("a session that exists keeps its agent and persona, whatever its key says", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const stored = { ...toSession("agent:sage:main"), agent: "old", persona: "gone" } as DispatchTarget;
  await store.events.accept(event("a"), { dispatch: dispatch("a", stored) });

  const found = await resolveRoute({ session: "agent:sage:main" }, { store, config, mintId: () => "x" });

  expect(found).toEqual(to("agent:sage:main", "old", "gone"));
});

test.each<[RouteWish, string]>([
  [{ session: "main", persona: "atlas" }, "target_conflict"],
  [{ thread: "t", session: "main", persona: "atlas" }, "target_conflict"],
  [{ session: " " }, "target_invalid"],
  [{ session: "a b" }, "session_key_invalid"],
  [{ session: "agent:nobody:main" }, "agent_unknown"],
  [{ persona: "nobody" }, "persona_unknown"],
  [{ persona: "idle" }, "persona_unknown"],
  [{ smart: true, session: "main" }, "smart_unconfigured"],
])("%o is refused as %s, with a hint", async (route, code) => {
  await expect(resolve(route)).rejects.toMatchObject({ code, hint: expect.stringMatching(/./) });
});

test("names that every JavaScript object has are not agents or personas", async () => {
  await expect(resolve({ session: "agent:constructor:main" })).rejects.toMatchObject({
    code: "agent_unknown",
  });
  const persona = resolve({ persona: "constructor" });
  await expect(persona).rejects.toMatchObject({ message: 'Unknown persona "constructor"' });
});

test("the label of a fork is a session key", () => {
  expect(forkLabel("01HXYZ")).toBe("fork-01hxyz");
});
