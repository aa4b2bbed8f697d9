import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

import { type ChannelPorts, openChannelPorts } from "../../../test/support/channel-ports.ts";
import { openTestStore, type TestStore } from "../../../test/support/open-store.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import { Webhooks } from "./webhooks.ts";

const SECRET = "a secret of both ends";

async function withWebhooks(
  channels: unknown,
  opened: TestStore,
  work: (scene: ChannelPorts & { readonly webhooks: Webhooks }) => Promise<void>,
): Promise<void> {
  using ports = await openChannelPorts(opened, channels, { PAY_SECRET: SECRET });
  await work({ ...ports, webhooks: new Webhooks(ports) });
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
  await withWebhooks(PAY, opened, async ({ webhooks }) => {
    const first = await webhooks.receive("pay", signed('{"id":"evt_1"}', clock()));
    clock.advance(10_000);
    const again = await webhooks.receive("pay", signed('{"id":"evt_1"}', clock()));
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
  await withWebhooks(PAY, opened, async ({ webhooks }) => {
    const send = async (body: string) => {
      const taken = await webhooks.receive("pay", signed(body, clock()));
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
  await withWebhooks(channels, opened, async ({ webhooks, lines: log }) => {
    const code = (name: string, atMs = clock()) =>
      webhooks.receive(name, signed("{}", atMs)).then(
        ({ kind }) => kind,
        (error: { code: string }) => error.code,
      );
    for (let time = 0; time < 3; time++)
      expect(await code("pay", clock() - 400_000)).toBe("signature_invalid");
    expect(await code("old")).toBe("webhook_unconfigured");
    const told = await webhooks.receive("old", signed("{}", clock())).catch((error: unknown) => error);
    expect(told).toMatchObject({ message: "This webhook is not available", transient: true });
    expect(`${(told as CortexError).message} ${(told as CortexError).hint}`).not.toContain("NOWHERE");
    expect(log.join("\n")).toContain("NOWHERE");
    expect(await code("out")).toBe("webhook_unknown");
    expect(await code("constructor")).toBe("webhook_unknown");
    expect(log).toEqual([
      expect.stringContaining('A webhook to "pay" was refused: The request was signed 400 s ago'),
      expect.stringContaining('Webhook "old" has no secret: NOWHERE is not set'),
      expect.stringContaining('Unknown webhook "out"'),
    ]);
    clock.advance(MINUTE_MS);
    await code("pay", clock() - 400_000);
    expect(log).toHaveLength(4);
    const large = new CortexError("body_too_large", "The body is too large", { hint: "Send less." });
    const request = { header: () => undefined, body: () => Promise.reject(large) };
    await expect(webhooks.receive("pay", request)).rejects.toBe(large);
    expect(log.at(-1)).toBe('A webhook to "pay" was refused: The body is too large. Send less.');
    expect((await store.events.list()).items).toEqual([]);
  });
});

test("anybody may send to what is unsigned, and to nothing else", async () => {
  await using opened = await openTestStore();
  const channels = { webhooks: { ...PAY.webhooks, door: { scheme: "unsigned" } } };
  await withWebhooks(channels, opened, async ({ webhooks }) => {
    const plain = { header: () => undefined, body: async () => Buffer.from("ding") };
    expect(await webhooks.receive("door", plain)).toMatchObject({ kind: "event", fresh: true });
    await expect(webhooks.receive("pay", plain)).rejects.toMatchObject({ code: "signature_invalid" });
  });
});

test("the body of a webhook that nobody has named is not even read", async () => {
  await using opened = await openTestStore();
  await withWebhooks({}, opened, async ({ webhooks }) => {
    let reads = 0;
    const body = async () => Buffer.alloc(++reads);
    await expect(webhooks.receive("x", { header: () => undefined, body })).rejects.toMatchObject({
      code: "webhook_unknown",
    });
    expect(reads).toBe(0);
  });
});
