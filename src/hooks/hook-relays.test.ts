/** Hooks that start relays. */
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { judge } from "../../test/support/judged.ts";
import { PATIENT } from "../../test/support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../test/support/small-relays.ts";
import type { TurnId } from "../model/ids.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { dispatchOfHook } from "./judge/dispatch.ts";
import { explain } from "../insight/why.ts";

const hook = (routing: object, more = ""): string =>
  `export const filter = { channels: ["email"] };\nexport default () => ({ fire: true, routing: ${JSON.stringify(routing)}${more} });`;

async function open(hooks: Readonly<Record<string, string>>): Promise<Cortex> {
  const paired = [{ channel: "email", sender: "ada" }];
  const cortex = await openTestCortex({
    cortex: { channels: { paired } },
    hooks,
    relays: SMALL_RELAYS,
    script: SMALL_SCRIPT,
  });
  const count = Object.keys(hooks).length;
  await expect.poll(() => cortex.store.hooks.list(), PATIENT).toHaveLength(count);
  return cortex;
}

const MAIL = { channel: "email", sender: "ada", place: "ada" };

test("a hook starts a relay with the content of the event, and no turn of its own", async () => {
  await using cortex = await open({ "mail.ts": hook({ relay: "pair" }) });
  const { event, runs, dispatches } = await judge(cortex, { ...MAIL, content: "a letter" });
  expect(runs).toMatchObject([{ hook: "mail", fired: true, error: undefined }]);
  expect(dispatches).toEqual([]);
  const [started] = (await cortex.relays.list()).items;
  expect(await ended(cortex, started!)).toMatchObject({
    templateName: "pair",
    userMessage: "a letter",
    channel: "email",
    metadata: { trigger: "hook", hook: "mail", event },
    status: "completed",
  });
  expect((await explain(cortex.store, event)).hooks).toMatchObject([{ hook: "mail", relayId: started!.id }]);
});

test("the hook's prompt stands before the content, and what it found is kept", async () => {
  const more = `, context: { prompt: "Answer kindly.", extracted: { from: "ada" } }`;
  await using cortex = await open({ "mail.ts": hook({ relay: "pair" }, more) });
  await judge(cortex, { ...MAIL, content: "a letter" });
  expect((await cortex.relays.list()).items).toMatchObject([
    { userMessage: "Answer kindly.\n\na letter", metadata: { extracted: { from: "ada" } } },
  ]);
});

test("an event and a hook start one relay, also where they meet again after a crash", async () => {
  await using cortex = await open({ "mail.ts": hook({ relay: "pair" }), "copy.ts": hook({ relay: "pair" }) });
  const { event } = await judge(cortex, { ...MAIL, content: "a letter" });
  expect((await cortex.relays.list()).items).toHaveLength(2);

  // As after a crash between the start of the relay and the record of the firing.
  const stored = (await cortex.store.events.get(event))!;
  const verdict = {
    fire: true,
    disable: false,
    exclusive: false,
    destination: { kind: "relay", relay: "pair" },
    smart: false,
    context: {},
  } as const;
  const ports = {
    store: cortex.store,
    settings: { config: () => cortex.config() },
    clock: Date.now,
    mintId: () => "x",
    relays: cortex.relays,
  };
  for (const name of ["mail", "copy"])
    expect(await dispatchOfHook(stored, name, verdict, ports)).toBeUndefined();
  const otherwise = { ...verdict, context: { prompt: "What a model says this time." } };
  expect(await dispatchOfHook(stored, "mail", otherwise, ports)).toBeUndefined();
  expect((await cortex.relays.list()).items).toHaveLength(2);
});

test("for strangers no relay is started", async () => {
  await using cortex = await open({ "mail.ts": hook({ relay: "pair" }) });
  const { event } = await judge(cortex, { ...MAIL, sender: "eve", content: "a letter" });
  expect((await cortex.relays.list()).items).toEqual([]);
  expect((await explain(cortex.store, event)).hooks).toMatchObject([{ hook: "mail", relayId: null }]);
});

test("a relay for somebody else than the owner may do no more than they", async () => {
  await using cortex = await open({ "mail.ts": hook({ relay: "pair" }) });
  await judge(cortex, { ...MAIL, content: "a letter" });
  const [started] = (await cortex.relays.list()).items;
  const { id, steps } = await ended(cortex, started!);
  const [item] = await cortex.store.queue.itemsOf(steps[0]!.executionId as TurnId);
  expect(item!.dispatches).toMatchObject([{ permissions: { authority: "paired" } }]);
  expect(await cortex.relays.artifact(id)).toBe("written: a letter");
});

test("what cannot be started is an error of the hook", async () => {
  await using cortex = await open({ "gone.ts": hook({ relay: "gone" }), "mute.ts": hook({ relay: "pair" }) });
  const { runs } = await judge(cortex, { ...MAIL, content: null });
  const errors = Object.fromEntries(runs.map(({ hook: name, error }) => [name, error]));
  expect(errors).toEqual({
    gone: expect.stringContaining('"gone"'),
    mute: expect.stringContaining("the event has no content"),
  });
});
