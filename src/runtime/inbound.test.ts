import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestStore, type TestStore } from "../../test/support/open-store.ts";
import { configHome } from "../../test/support/config-home.ts";
import { CortexError } from "../model/errors.ts";
import type { EventId } from "../model/ids.ts";
import { MINUTE_MS } from "../model/durations.ts";
import { readConfig } from "../config/read.ts";
import { toEvent } from "../events/incoming.ts";
import { Inbound } from "./inbound.ts";

const SECRET = "a secret of both ends";

interface Door {
  readonly home: string;
  readonly log: string[];
  readonly inbound: Inbound;
  /** The configuration says this now. */
  configure(channels: unknown): Promise<void>;
}

/** The ways in, on a real store and with files of a home. */
async function withDoor(
  channels: unknown,
  given: { readonly store: TestStore; readonly wantsTimer?: () => boolean },
  work: (door: Door) => Promise<void>,
): Promise<void> {
  using home = configHome();
  const { store, clock } = given.store;
  const variables: Record<string, string | undefined> = { PAY_SECRET: SECRET };
  const read = async (said: unknown) => {
    writeFileSync(join(home.folder, "cortex.json"), JSON.stringify({ channels: said }));
    return readConfig({ home: home.path, environment: {}, systemTimezone: "UTC" });
  };
  let { config } = await read(channels);
  const log: string[] = [];
  await using inbound = new Inbound({
    home: home.path,
    store,
    clock,
    settings: { config: () => config, variable: (name) => variables[name] },
    accept: async (incoming, file) => {
      const event = toEvent(incoming);
      const { fresh } = await store.events.accept(event, file === undefined ? {} : { file });
      return { event: event.id, fresh };
    },
    wantsTimer: given.wantsTimer ?? (() => false),
    log: (line) => log.push(line),
  });
  await work({
    home: home.path,
    log,
    inbound,
    async configure(said) {
      ({ config } = await read(said));
      inbound.lookAgain();
    },
  });
}

/** Signed by openssl, with the generic scheme. */
function signed(body: string, atMs: number, headers: Readonly<Record<string, string>> = {}) {
  const timestamp = String(Math.floor(atMs / 1_000));
  const printed = execFileSync("openssl", ["dgst", "-sha256", "-hmac", SECRET], {
    input: `${timestamp}.${body}`,
    encoding: "utf8",
  });
  const all: Record<string, string> = {
    "x-cortex-timestamp": timestamp,
    "x-cortex-signature": `sha256=${/[0-9a-f]{64}/.exec(printed)![0]}`,
    ...headers,
  };
  return { header: (name: string) => all[name.toLowerCase()], body: async () => Buffer.from(body) };
}

const PAY = { webhooks: { pay: { scheme: "generic", secretEnv: "PAY_SECRET" } } };

test("a signed webhook is an event, and sent again it is the same one", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  await withDoor(PAY, { store: opened }, async ({ inbound }) => {
    const first = await inbound.receiveWebhook("pay", signed('{"id":"evt_1"}', clock()));
    clock.advance(10_000);
    const again = await inbound.receiveWebhook("pay", signed('{"id":"evt_1"}', clock()));
    expect(first).toEqual({ kind: "event", event: "webhook:pay:evt_1", fresh: true });
    expect(again).toEqual({ kind: "event", event: "webhook:pay:evt_1", fresh: false });
    expect((await store.events.list({ channel: "webhook" })).items).toMatchObject([
      { sender: "pay", content: '{"id":"evt_1"}', payload: { id: "evt_1" }, differing: 0 },
    ]);
    const rows = await store.query("select source_adapter, source_id from events");
    expect(rows).toEqual([{ source_adapter: "webhook:pay", source_id: "evt_1" }]);
  });
});

test("webhooks without an id are known by their time and content", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  await withDoor(PAY, { store: opened }, async ({ inbound }) => {
    const send = async (body: string) => {
      const taken = await inbound.receiveWebhook("pay", signed(body, clock()));
      return taken.kind === "event" ? `${taken.event.slice(0, 19)} ${taken.fresh}` : taken.kind;
    };
    expect(await send("one")).toBe("webhook:pay:sha256: true");
    expect(await send("one")).toBe("webhook:pay:sha256: false");
    expect(await send("two")).toBe("webhook:pay:sha256: true");
    clock.advance(1_000);
    expect(await send("one")).toBe("webhook:pay:sha256: true");
  });
});

test("what is refused is told to the owner once a minute, and nothing of it is in the ledger", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const channels = {
    webhooks: { ...PAY.webhooks, old: { scheme: "github", secretEnv: "NOWHERE" }, out: {} },
  };
  await withDoor(channels, { store: opened }, async ({ inbound, log }) => {
    const code = (name: string, atMs = clock()) =>
      inbound.receiveWebhook(name, signed("{}", atMs)).then(
        ({ kind }) => kind,
        (error: { code: string }) => error.code,
      );
    for (let time = 0; time < 3; time++)
      expect(await code("pay", clock() - 400_000)).toBe("signature_invalid");
    expect(await code("old")).toBe("webhook_unconfigured");
    const told = await inbound.receiveWebhook("old", signed("{}", clock())).catch((error: unknown) => error);
    expect(told).toMatchObject({ message: "This webhook cannot be taken at the moment", transient: true });
    expect(`${(told as CortexError).message} ${(told as CortexError).hint}`).not.toContain("NOWHERE");
    expect(log.join("\n")).toContain("NOWHERE");
    expect(await code("out")).toBe("webhook_unknown");
    expect(await code("constructor")).toBe("webhook_unknown");
    expect(log).toEqual([
      expect.stringContaining('A webhook to "pay" was refused: The request was signed 400 s ago'),
      expect.stringContaining('The webhook "old" has no secret: NOWHERE is not set'),
      expect.stringContaining('No webhook is called "out"'),
    ]);
    clock.advance(MINUTE_MS);
    await code("pay", clock() - 400_000);
    expect(log).toHaveLength(4);
    const large = new CortexError("body_too_large", "The body is too large", { hint: "Send less." });
    const request = { header: () => undefined, body: () => Promise.reject(large) };
    await expect(inbound.receiveWebhook("pay", request)).rejects.toBe(large);
    expect(log.at(-1)).toBe('A webhook to "pay" was refused: The body is too large. Send less.');
    expect((await store.events.list()).items).toEqual([]);
  });
});

test("anybody may send to what is unsigned, and to nothing else", async () => {
  await using opened = await openTestStore();
  const channels = { webhooks: { ...PAY.webhooks, door: { scheme: "unsigned" } } };
  await withDoor(channels, { store: opened }, async ({ inbound }) => {
    const plain = { header: () => undefined, body: async () => Buffer.from("ding") };
    expect(await inbound.receiveWebhook("door", plain)).toMatchObject({ kind: "event", fresh: true });
    await expect(inbound.receiveWebhook("pay", plain)).rejects.toMatchObject({ code: "signature_invalid" });
  });
});

test("the body of a webhook that nobody has named is not even read", async () => {
  await using opened = await openTestStore();
  await withDoor({}, { store: opened }, async ({ inbound }) => {
    let reads = 0;
    const body = async () => Buffer.alloc(++reads);
    await expect(inbound.receiveWebhook("x", { header: () => undefined, body })).rejects.toMatchObject({
      code: "webhook_unknown",
    });
    expect(reads).toBe(0);
  });
});

test("a file in a watched folder is an event, and what a crash has kept from being told is told later", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const files = { files: { inbox: { folder: folder.path, settleMs: 0 } } };
  const told = async () => {
    const { items } = await opened.store.events.list({ channel: "files" });
    return items.map(({ metadata }) => {
      const { type, name } = metadata as { type: string; name: string };
      return `${type} ${name}`;
    });
  };
  const path = join(folder.path, "a.txt");
  writeFileSync(path, "one");
  await withDoor(files, { store: opened }, async ({ inbound }) => {
    inbound.start();
    await expect.poll(told).toEqual(["created a.txt"]);
  });
  await opened.crash();
  writeFileSync(path, "two!");
  await withDoor(files, { store: opened }, async ({ inbound }) => {
    inbound.start();
    await expect.poll(told).toHaveLength(2);
  });
  rmSync(path);
  await withDoor(files, { store: opened }, async ({ inbound }) => {
    inbound.start();
    await expect.poll(told).toHaveLength(3);
  });
  expect((await told()).toSorted()).toEqual(["changed a.txt", "created a.txt", "deleted a.txt"]);
});

test("folders are watched as the configuration says now", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const [one, two] = ["one", "two"].map((name) => join(folder.path, name)) as [string, string];
  for (const path of [one, two]) mkdirSync(path);
  const senders = async () =>
    (await opened.store.events.list({ channel: "files" })).items.map(({ sender }) => sender ?? "").toSorted();
  await withDoor({ files: { one: { folder: one, settleMs: 0 } } }, { store: opened }, async (door) => {
    door.inbound.start();
    writeFileSync(join(one, "a"), "a");
    await expect.poll(senders).toEqual(["one"]);
    await door.configure({ files: { two: { folder: two, settleMs: 0 } } });
    writeFileSync(join(one, "b"), "b");
    writeFileSync(join(two, "c"), "c");
    await expect.poll(senders).toEqual(["one", "two"]);
  });
});

test("of two folders of which one is in the other, the first is watched, and the owner is told", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const files = { all: { folder: folder.path }, part: { folder: folder.folder } };
  await withDoor({ files }, { store: opened }, async ({ inbound, log }) => {
    inbound.start();
    await expect
      .poll(() => log)
      .toEqual([`The folder "part" is not watched: it overlaps with "all" (${folder.path}).`]);
  });
});

test("a folder with the ledger in it is not watched, and the owner is told", async () => {
  await using opened = await openTestStore();
  const files = { home: { folder: "." }, ledger: { folder: "data/inner" }, inbox: { folder: "inbox" } };
  await withDoor({ files }, { store: opened }, async ({ home, inbound, log }) => {
    mkdirSync(join(home, "inbox"));
    inbound.start();
    await expect
      .poll(() => log)
      .toEqual([
        `The folder "home" is not watched: the ledger is in it (${home}).`,
        `The folder "ledger" is not watched: the ledger is in it (${join(home, "data/inner")}).`,
      ]);
  });
});

test("the timer's events are in the ledger, with what was missed, and each minute is there once", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  const given = { store: opened, wantsTimer: () => true };
  const ledger = async () =>
    (await opened.store.events.list({ channel: "timer", direction: "received" })).items;
  const runOnce = (count: number) =>
    withDoor({}, given, async ({ inbound }) => {
      inbound.start();
      await expect.poll(async () => (await ledger()).length).toBe(count);
    });
  await runOnce(1);
  await runOnce(1);
  clock.advance(10 * MINUTE_MS);
  await runOnce(2);
  const [newest, oldest] = await ledger();
  expect(oldest).toMatchObject({ id: "timer:2026-01-01T00:00Z", content: null, metadata: {} });
  expect(newest).toMatchObject({
    id: "timer:2026-01-01T00:10Z",
    metadata: { missed: { fromMs: oldest!.atMs + MINUTE_MS, toMs: newest!.atMs - MINUTE_MS } },
  });

  // A clock that was ahead and was set right: the minutes from before the mistake count, and no answers do.
  clock.advance(-5 * MINUTE_MS);
  const answer = {
    channel: "timer",
    direction: "sent",
    content: "Done",
    atMs: oldest!.atMs + 1_000,
  } as const;
  await opened.store.events.accept({ ...answer, id: "cortex:answer" as EventId });
  await runOnce(3);
  expect((await ledger())[1]).toMatchObject({
    id: "timer:2026-01-01T00:05Z",
    metadata: { missed: { fromMs: oldest!.atMs + MINUTE_MS } },
  });
});
