import { expect, test } from "vitest";

import { openTestStore, type TestStore } from "../../../test/support/open-store.ts";
import {
  alice,
  delivery,
  dispatch,
  event,
  session,
  toSession,
  turnFor,
} from "../../../test/support/sample.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { playChannel } from "../../../test/support/played-channel.ts";
import { Sender } from "../../delivery/sender.ts";
import { Live } from "../../feature/live.ts";
import type { Principal } from "../../model/principal.ts";
import { trustJson, NO_TRUST } from "../../model/trust.ts";
import type { Claim, NewDelivery } from "../../store/store.ts";
import { type Connection, deliveryFailed, deliveryRefused, type OutgoingMessage } from "../channel.ts";
import { Drafts } from "./drafts.ts";

/** A chat whose messages can be looked at, and what a platform does with it. */
function playPlatform() {
  const messages = new Map<string, string>();
  const native: string[] = [];
  const acts: string[] = [];
  let next = 1;
  const on = { send: async () => {}, edit: async () => {}, remove: async () => {} };
  const connection: Connection = {
    receive: async () => {},
    async send({ content, edits }: OutgoingMessage) {
      if (edits !== undefined) {
        await connection.edit!({ channel: "test", place: "dm-1", messageId: edits }, content, never);
        return { platformId: edits };
      }
      acts.push(`send ${content}`);
      await on.send();
      messages.set(String(next), content);
      return { platformId: String(next++) };
    },
    async edit({ messageId }, wire) {
      acts.push(`edit ${wire}`);
      await on.edit();
      if (!messages.has(messageId)) throw deliveryRefused("message to edit not found", { hint: "" });
      messages.set(messageId, wire);
    },
    async remove({ messageId }) {
      acts.push("remove");
      await on.remove();
      messages.delete(messageId);
    },
    async draft(_, { wire }) {
      native.push(wire);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { connection, messages, native, acts, on };
}

const never = new AbortController().signal;
const FAST = { firstAfterMs: 0, editEveryMs: 5, nativeEveryMs: 5 };
const owner = "owner" as Principal;

interface Opening {
  readonly isOn?: boolean;
  readonly find?: boolean;
  readonly draft?: "native" | "edit";
}

function open(
  { store, clock }: TestStore,
  { connection }: ReturnType<typeof playPlatform>,
  { isOn = true, find = false, draft = "edit" }: Opening = {},
) {
  const lines: string[] = [];
  const looked: string[] = [];
  const live = new Live(store, Date.now);
  const drafts = new Drafts({
    store,
    live,
    clock: Date.now,
    log: (line) => void lines.push(line),
    redact(text) {
      looked.push(text);
      return text.replaceAll("hunter2", "***");
    },
    wayTo: ({ channel }) =>
      channel === "test"
        ? { isOn, can: { draft, edit: true, find }, connection, render: (text) => text }
        : undefined,
    times: FAST,
  });
  drafts.start();
  const outlet = playChannel({
    send: (message, signal) => connection.send(message, signal),
    replacedBy: (id, turn) => drafts.replacedBy(id, turn),
    forgetDraft: (turn) => drafts.forget(turn),
  });
  const sender = new Sender({
    store,
    outlets: () => outlet,
    holder: "sender",
    clock,
    random: () => 0,
    onProblem: (error) => void lines.push(String(error)),
    pollMs: 20,
  });
  return {
    live,
    drafts,
    lines,
    /** Texts that it thought of showing. */
    looked,
    sender,
    async [Symbol.asyncDispose]() {
      await sender[Symbol.asyncDispose]();
      await drafts[Symbol.asyncDispose]();
      live[Symbol.dispose]();
    },
  };
}

async function begin({ store }: TestStore, name: string, principal = owner, label = "work"): Promise<Claim> {
  const told = event(name, { principal, placeKind: "dm" });
  const options = { dispatch: dispatch(name, toSession(label)), claim: alice };
  return (await store.events.accept(told, options)).dispatched!.claim!;
}

const write = (live: Live, claim: Claim, text: string) => live.tell(claim, { kind: "text", text });
const shown = ({ messages }: ReturnType<typeof playPlatform>) => [...messages.values()];

async function answer({ store }: TestStore, claim: Claim, fields: Partial<NewDelivery> = {}): Promise<void> {
  await store.turns.commit(turnFor(claim, { deliveries: [delivery("answer", "dm-1", fields)] }));
}

test("an answer is shown while it is written, in one message that the answer replaces", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a");
  write(hub.live, claim, "Let me look");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look …"]);
  hub.live.finished(claim);
  write(hub.live, claim, "The password is hunter2 [[reply_to");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["The password is *** …"]);
  await answer(opened, claim);
  hub.sender.start();
  await expect.poll(() => shown(platform), PATIENT).toEqual([`answer of ${claim.turn}`]);
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(platform.acts.filter((act) => act.startsWith("send"))).toHaveLength(1);
});

test("the answer waits for an edit that is under way, and nothing is changed after it", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a");
  write(hub.live, claim, "one");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["one …"]);
  const edit = Promise.withResolvers<void>();
  platform.on.edit = () => edit.promise;
  write(hub.live, claim, " two");
  await expect.poll(() => platform.acts.at(-1), PATIENT).toBe("edit one two …");
  await answer(opened, claim);
  const replaced = hub.drafts.replacedBy(delivery("answer").id, claim.turn);
  write(hub.live, claim, " three");
  platform.on.edit = async () => {};
  edit.resolve();
  expect(await replaced).toBe("1");
  hub.sender.start();
  await expect.poll(() => shown(platform), PATIENT).toEqual([`answer of ${claim.turn}`]);
  expect(platform.acts.at(-1)).toBe(`edit answer of ${claim.turn}`);
});

test.each([
  [
    "fails",
    async (opened: TestStore, { lease, run }: Claim) =>
      opened.store.runs.fail({ lease, run, error: "x", outcome: { kind: "dead" } }),
  ],
  [
    "is silent, or held",
    async (opened: TestStore, claim: Claim) => opened.store.turns.commit(turnFor(claim)),
  ],
  [
    "waits for a person",
    async (opened: TestStore, { lease, run }: Claim) =>
      opened.store.runs.suspend(lease, run, { id: "w", kind: "other", detail: {} }, []),
  ],
])("the draft of a turn that %s is removed", async (_, end) => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a");
  write(hub.live, claim, "Let me look");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look …"]);
  await end(opened, claim);
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(shown(platform)).toEqual([]);
});

test("a removal that failed is tried again, and one that is refused is given up", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a");
  write(hub.live, claim, "Let me look");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look …"]);
  platform.on.remove = async () => {
    throw deliveryFailed("no connection", { hint: "" });
  };
  await opened.store.turns.commit(turnFor(claim));
  await expect.poll(() => hub.lines, PATIENT).toEqual([expect.stringContaining("no connection")]);
  expect(await opened.store.drafts.list()).toHaveLength(1);

  const other = playPlatform();
  other.on.remove = async () => {
    throw deliveryRefused("too old", { hint: "" });
  };
  await using second = open(opened, other);
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(second.lines).toEqual([expect.stringContaining("too old")]);
});

test("an answer whose draft was deleted by somebody is a message of its own", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a");
  write(hub.live, claim, "Let me look");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look …"]);
  platform.messages.clear();
  await answer(opened, claim);
  hub.sender.start();
  await expect.poll(() => shown(platform), PATIENT).toEqual([`answer of ${claim.turn}`]);
  expect((await opened.store.outbox.list()).items).toMatchObject([{ state: "sent" }]);
});

test("in direct messages, native drafts are shown, and no message is sent for them", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform, { draft: "native" });
  const claim = await begin(opened, "a");
  write(hub.live, claim, "Let me");
  await expect.poll(() => platform.native, PATIENT).toEqual(["Let me"]);
  write(hub.live, claim, " look");
  await expect.poll(() => platform.native.at(-1), PATIENT).toBe("Let me look");
  await answer(opened, claim);
  hub.sender.start();
  await expect.poll(() => shown(platform), PATIENT).toEqual([`answer of ${claim.turn}`]);
  expect(platform.acts).toEqual([`send answer of ${claim.turn}`]);
});

test("nothing is shown of what is silent so far, of an answer that would be held, or where it is turned off", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a", "person:ada" as Principal);
  write(hub.live, claim, "NO_RE");
  await expect.poll(() => hub.looked, PATIENT).toContain("NO_RE");
  const hidden = { ...NO_TRUST, private: ["person:bob"] };
  await opened.store.sessions.configure(session("work"), { trust: trustJson(hidden) });
  write(hub.live, claim, "ALLY? Bob says");
  await using off = open(opened, platform, { isOn: false });
  const other = await begin(opened, "b", owner, "home");
  write(off.live, other, "Let me look");
  await expect.poll(() => hub.looked, PATIENT).toContain("NO_REALLY? Bob says");
  await expect.poll(() => off.looked, PATIENT).toContain("Let me look");
  await answer(opened, other);
  off.sender.start();
  await expect.poll(() => platform.acts, PATIENT).toEqual([`send answer of ${other.turn}`]);
});

test("what is read on the way ends the draft if the readers may not know it", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  await using hub = open(opened, platform);
  const claim = await begin(opened, "a", "person:ada" as Principal);
  write(hub.live, claim, "Let me look");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look …"]);
  const label = { ...NO_TRUST, private: ["person:bob"] };
  await opened.store.sessions.configure(session("work"), { trust: trustJson(label) });
  hub.live.finished(claim);
  write(hub.live, claim, "Bob says");
  await opened.store.turns.commit(turnFor(claim)); // its answer is held
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(platform.acts).toEqual(["send Let me look …", "remove"]);
});

test("a process that takes the turn over goes on with the draft", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  const claim = await begin(opened, "a");
  {
    await using hub = open(opened, platform);
    write(hub.live, claim, "Let me look");
    await expect.poll(() => opened.store.drafts.list(), PATIENT).toMatchObject([{ platformId: "1" }]);
  }
  await opened.crash();
  await using hub = open(opened, platform);
  const [again] = await opened.store.queue.lease(alice, 1);
  write(hub.live, again!, "Let me look again");
  await expect.poll(() => shown(platform), PATIENT).toEqual(["Let me look again …"]);
  await answer(opened, again!);
  hub.sender.start();
  await expect.poll(() => shown(platform), PATIENT).toEqual([`answer of ${claim.turn}`]);
});

test.each([
  ["is not looked for, and no other is sent", false, ["Let me look …", "the answer"]],
  ["is found and removed", true, ["the answer"]],
])("a draft whose id was lost in a crash %s", async (_, find, expected) => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  const claim = await begin(opened, "a");
  await opened.store.drafts.begin(claim.run, { channel: "test", place: "dm-1" });
  await platform.connection.send({ content: "Let me look …" } as OutgoingMessage, never);
  await opened.crash();
  Object.assign(platform.connection, { find: async () => ({ platformId: "1" }) });
  await using hub = open(opened, platform, { find });
  const [again] = await opened.store.queue.lease(alice, 1);
  write(hub.live, again!, "Let me look again");
  await answer(opened, again!, { content: "the answer" });
  hub.sender.start();
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(shown(platform)).toEqual(expected);
});

test("an answer that was cut off between commit and edit is still the draft's", async () => {
  await using opened = await openTestStore();
  const platform = playPlatform();
  const claim = await begin(opened, "a");
  {
    await using hub = open(opened, platform);
    write(hub.live, claim, "Let me look");
    await expect.poll(() => opened.store.drafts.list(), PATIENT).toMatchObject([{ platformId: "1" }]);
    await answer(opened, claim);
    const [sending] = await opened.store.outbox.claim(alice, 1);
    await opened.store.outbox.plan(sending!, [`answer of ${claim.turn}`]);
    await opened.store.outbox.sending(sending!, 0);
  }
  await opened.crash();
  await using hub = open(opened, platform);
  hub.sender.start();
  await expect.poll(() => opened.store.drafts.list(), PATIENT).toEqual([]);
  expect(shown(platform)).toEqual([`answer of ${claim.turn}`]);
});
