import { expect, test } from "vitest";

import { openTestStore, type TestStore } from "../../../test/support/open-store.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import type { Identity } from "../../model/principal.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import type { AccountStatus } from "./account-status.ts";
import { CONFLICT_OVER_MS, LASTING_CONFLICT_MS, Outages } from "./outages.ts";

const OWNER = { principal: "owner" };

function play(opened: TestStore, { admin }: { readonly admin?: DeliveryTarget } = {}) {
  const { store, clock } = opened;
  const live = new Set(["slack@default", "telegram@work"]);
  let status: AccountStatus;
  const enter = (state: AccountStatus["state"], error?: string): void => {
    status = {
      channel: "telegram",
      account: "default",
      ack: "after-commit",
      state,
      sinceMs: clock(),
      downSinceMs: state === "live" ? undefined : clock(),
      lastProofAtMs: undefined,
      lastEventAtMs: undefined,
      error,
    };
  };
  const create = (): Outages =>
    new Outages({
      store,
      clock,
      admin: () => admin,
      isLive: (channel, account) => live.has(`${channel}@${account}`),
      log: () => {},
    });
  let outages = create();
  enter("live");
  return {
    live,
    enter,
    look: () => outages.look([status]),
    restart: () => void (outages = create()),
    told: async () =>
      (await store.outbox.list()).items.toReversed().map(({ target, content }) => {
        const { channel, account = "default", place } = target;
        return [`${channel}@${account}`, place, content];
      }),
    pass: (ms: number) => clock.advance(ms),
  };
}

const ADMIN = { channel: "slack", account: "default", place: "C1" };
const DOWN = ["slack@default", "C1", "The channel telegram is disconnected: Unauthorized. Get a token."];
const UP = ["slack@default", "C1", "The channel telegram is connected again."];

test("refused credentials are told to the admin elsewhere, once, also over restarts, and so is their end", async () => {
  await using opened = await openTestStore();
  const { enter, look, restart, told } = play(opened, { admin: ADMIN });
  enter("refused", "Unauthorized. Get a token.");
  await look();
  await look();
  restart();
  enter("connecting");
  await look();
  enter("refused", "Unauthorized. Get a token.");
  await look();
  expect(await told()).toEqual([DOWN]);
  restart();
  enter("live");
  await look();
  await look();
  expect(await told()).toEqual([DOWN, UP]);
  opened.clock.advance(1);
  enter("refused", "Unauthorized. Get a token.");
  await look();
  expect(await told()).toEqual([DOWN, UP, DOWN]);
});

test("without an admin elsewhere, the owner's other identities are told, in the chat that they used", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const identities = ["telegram:42", "discord:7", "telegram@work:42"] as Identity[];
  await store.people.change("owner", { link: identities }, OWNER);
  const { enter, look, told } = play(opened, { admin: { channel: "telegram", place: "42" } });
  enter("refused", "Unauthorized");
  await look();
  expect(await told()).toEqual([
    ["telegram@work", "42", "The channel telegram is disconnected: Unauthorized"],
  ]);
});

test("while no other way in is live, it waits, and is told to the first that comes up", async () => {
  await using opened = await openTestStore();
  const { enter, look, told, live } = play(opened, { admin: ADMIN });
  live.clear();
  enter("refused", "Unauthorized. Get a token.");
  await look();
  expect(await told()).toEqual([]);
  live.add("slack@default");
  await look();
  expect(await told()).toEqual([DOWN]);
});

test("what nobody was told of ends without a word", async () => {
  await using opened = await openTestStore();
  const { enter, look, told, live } = play(opened, { admin: ADMIN });
  live.clear();
  enter("refused", "Unauthorized");
  await look();
  enter("live");
  live.add("slack@default");
  await look();
  expect(await told()).toEqual([]);
});

test("only a conflict that lasts is told, however live the account looks in between", async () => {
  await using opened = await openTestStore();
  const { enter, look, told, pass } = play(opened, { admin: ADMIN });
  for (let ms = 0; ms < LASTING_CONFLICT_MS; ms += MINUTE_MS / 2) {
    enter("conflict", "terminated by another");
    await look();
    enter("live"); // for a moment
    await look();
    expect(await told()).toEqual([]);
    pass(MINUTE_MS / 2);
  }
  enter("conflict", "terminated by another");
  await look();
  expect(await told()).toHaveLength(1);
  enter("live");
  await look();
  pass(CONFLICT_OVER_MS - 1);
  await look();
  expect(await told()).toHaveLength(1);
  pass(1);
  await look();
  expect((await told()).at(-1)).toEqual(UP);
});

test("a short conflict, as after a restart, is no outage", async () => {
  await using opened = await openTestStore();
  const { enter, look, told, pass } = play(opened, { admin: ADMIN });
  for (let times = 0; times < 20; times++) {
    enter("conflict", "terminated by another");
    await look();
    enter("live");
    pass(CONFLICT_OVER_MS);
    await look();
  }
  expect(await told()).toEqual([]);
});
