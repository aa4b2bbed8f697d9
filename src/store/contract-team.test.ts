/** What every store promises about the members of teams. */
import { describe, expect, test } from "vitest";

import { alice, dispatch, event, session, START_MS, toSession, turnFor } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { DispatchTarget, TeamOrder } from "./store.ts";

const TEAM = "/team";

function order(name: string, fields: Partial<TeamOrder> = {}): TeamOrder {
  return {
    team: TEAM,
    member: "billing-dev",
    state: { attempt: 1 },
    event: event(name, { channel: "team" }),
    dispatch: dispatch(name, toSession("billing"), { hook: "team" }),
    worker: { workspace: "/billing" },
    ...fields,
  };
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("what is known of a member is kept, and is another team's no more than another member's", async () => {
    await using opened = await open();
    const { team } = opened.store;
    expect(await team.get(TEAM, "billing-dev")).toBeUndefined();
    await team.keep({ team: TEAM, member: "dashboard-dev", state: { tick: 1 } });
    await team.keep({ team: TEAM, member: "billing-dev", state: { tick: 1 } });
    await team.keep({ team: TEAM, member: "billing-dev", state: { tick: 2 } });
    await team.keep({ team: "/other", member: "billing-dev", state: { tick: 9 } });
    expect(await team.get(TEAM, "billing-dev")).toEqual({
      team: TEAM,
      member: "billing-dev",
      state: { tick: 2 },
      item: undefined,
      updatedAtMs: START_MS,
    });
    expect((await team.list(TEAM)).map(({ member }) => member)).toEqual(["billing-dev", "dashboard-dev"]);
  });

  test("a turn is asked for in the commit that keeps what is known", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim, ...ordered } = await store.team.order(order("first", { claim: alice }));
    expect(ordered).toEqual({ item: "item-first", fresh: true });
    expect(claim?.lease.session).toBe("billing");
    expect(await store.team.get(TEAM, "billing-dev")).toMatchObject({
      state: { attempt: 1 },
      item: "item-first",
    });
    expect(await store.sessions.get(session("billing"))).toMatchObject({ worker: { workspace: "/billing" } });
  });

  test("the same turn asked for again is the same message, whatever has become of it", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim } = await store.team.order(order("first", { claim: alice }));
    const again = order("first", { dispatch: dispatch("again", toSession("billing"), { hook: "team" }) });
    expect(await store.team.order(again)).toEqual({ item: "item-first", fresh: false });
    await store.turns.commit(turnFor(claim!));
    expect(await store.team.order(again)).toEqual({ item: "item-first", fresh: false });
    expect(await store.queue.outcome((await store.team.get(TEAM, "billing-dev"))!.item!)).toMatchObject({
      state: "done",
    });
  });

  test("a message stays with its member until it is said to be over", async () => {
    await using opened = await open();
    const { team } = opened.store;
    await team.order(order("first"));
    await team.keep({ team: TEAM, member: "billing-dev", state: { tick: 1 } });
    expect(await team.get(TEAM, "billing-dev")).toMatchObject({ state: { tick: 1 }, item: "item-first" });
    await team.keep({ team: TEAM, member: "billing-dev", state: { tick: 2 }, isOver: true });
    expect(await team.get(TEAM, "billing-dev")).toMatchObject({ state: { tick: 2 }, item: undefined });
    expect(await opened.store.query("select team, member, item_id from team_members")).toEqual([
      { team: TEAM, member: "billing-dev", item_id: null },
    ]);
  });

  test("what a session is given can be kept before anybody writes to it", async () => {
    await using opened = await open();
    const { team, sessions } = opened.store;
    const known = { team: TEAM, member: "billing-dev", state: {} };
    const { agent, persona } = toSession("billing") as Extract<DispatchTarget, { kind: "session" }>;
    const give = { session: session("billing"), agent, persona, worker: { workspace: "/a" } };
    await team.keep({ ...known, give });
    await team.keep({ ...known, give: { ...give, worker: { workspace: "/b" } } });
    expect(await sessions.get(session("billing"))).toMatchObject({
      agent,
      head: undefined,
      worker: { workspace: "/b" },
    });
  });

  test("a turn that cannot be asked for leaves nothing behind", async () => {
    await using opened = await open();
    const { team, events } = opened.store;
    const refused = order("first");
    const unheard = { ...refused.dispatch, from: session("unknown") };
    await expect(team.order({ ...refused, dispatch: unheard })).rejects.toMatchObject({
      code: "session_unknown",
    });
    expect(await team.get(TEAM, "billing-dev")).toBeUndefined();
    expect(await events.get(refused.event.id)).toBeUndefined();
  });
});
