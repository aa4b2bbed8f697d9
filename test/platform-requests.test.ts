/** Requests of platforms to a channel of whatever kind: a played module stands where Telegram's does. */
import { expect, test } from "vitest";
import { z } from "zod";

import {
  CHANNEL_API,
  type ChannelModule,
  packageMissing,
  type PlatformRequest,
} from "../src/channels/channel.ts";
import { telegramFormat } from "../src/channels/telegram/render.ts";
import { CortexError } from "../src/model/errors.ts";
import { FEATURES } from "../src/runtime/features.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

interface Played {
  readonly server: TestServer;
  readonly asked: PlatformRequest[];
  state(account?: string): string;
}

async function open({ isReady = true }: { readonly isReady?: boolean } = {}): Promise<
  Played & AsyncDisposable
> {
  const asked: PlatformRequest[] = [];
  const module: ChannelModule = {
    api: CHANNEL_API,
    name: "telegram",
    settings: z.unknown(),
    can: {
      maxLength: 100,
      edit: false,
      react: false,
      commands: false,
      threads: "none",
      startThread: false,
      buttons: 0,
      polls: false,
      embeds: false,
      voice: false,
      ack: "before",
      proofMs: 60_000,
      find: false,
      onUncertain: "leave",
    },
    format: telegramFormat,
    setup: [],
    probe: async () => [{ name: "played", state: "warn", message: "as it is" }],
    open() {
      if (!isReady) throw packageMissing("pigeon@1.0.0");
      return {
        async receive(sink, signal) {
          sink.proof();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
        async handle(request, sink) {
          asked.push(request);
          const { challenge } = request.query;
          if (challenge !== undefined) return { status: 200, body: challenge };
          const id = new TextDecoder().decode(request.body);
          if (id === "forged") throw new CortexError("signature_invalid", "Forged", { hint: "Sign it." });
          if (id === "broken") throw new Error("disk full");
          await sink.commit([
            {
              id,
              kind: "message",
              place: { id: "7", kind: "dm" },
              sender: { id: "7", bot: false, self: false },
              mentionsMe: true,
              messageId: id,
              text: id,
              atMs: Date.now(),
            },
          ]);
          return { status: 202, contentType: "application/json", body: '{"stored":true}' };
        },
        send: async () => ({}),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
  const played = { name: module.name, channel: async () => module };
  const features = FEATURES.map((feature) => (feature.name === played.name ? played : feature));
  const server = await openTestServer(
    { cortex: { channels: { telegram: { tokenEnv: "A", accounts: { work: { tokenEnv: "A" } } } } } },
    { features, serving: { features } },
  );
  return {
    server,
    asked,
    state: (account = "default") =>
      server.cortex.channels.list().find((each) => each.account === account)?.state ?? "none",
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const WITHOUT_TOKEN = { authorization: undefined };

test("a platform checks the address, and its events are stored before they are answered", async () => {
  await using played = await open();
  const { server, asked } = played;
  await expect.poll(() => [played.state(), played.state("work")], PATIENT).toEqual(["live", "live"]);
  const check = await server.send({ path: "/in/telegram?challenge=c%3D1&mode=x", headers: WITHOUT_TOKEN });
  expect([check.status, check.text, check.headers["content-type"]]).toEqual([
    200,
    "c=1",
    "text/plain; charset=utf-8",
  ]);
  const headers = { ...WITHOUT_TOKEN, "x-signature": "s" };
  const sent = await server.send({ method: "POST", path: "/in/telegram/work", body: " {é} ", headers });
  expect([sent.status, sent.json]).toEqual([202, { stored: true }]);
  const { items } = await server.cortex.store.events.list({ channel: "telegram" });
  expect(items).toMatchObject([{ account: "work", content: " {é} " }]);
  expect(asked.map(({ method, header }) => [method, header("X-Signature")])).toEqual([
    ["GET", undefined],
    ["POST", "s"],
  ]);
});

test("what is forged is refused, and what cannot be stored is sent again later", async () => {
  await using played = await open();
  const { server } = played;
  await expect.poll(() => played.state(), PATIENT).toBe("live");
  const forged = await server.send({ method: "POST", path: "/in/telegram", body: "forged" });
  expect([forged.status, forged.json.error.code]).toEqual([401, "signature_invalid"]);
  const broken = await server.send({ method: "POST", path: "/in/telegram", body: "broken" });
  expect([broken.status, broken.headers["retry-after"]]).toEqual([503, "5"]);
  expect((await server.cortex.store.events.list({ channel: "telegram" })).items).toEqual([]);
});

test("a channel that lacks a package waits for a person, and says what to install", async () => {
  await using played = await open({ isReady: false });
  const { json } = await played.server.send("/api/channels");
  expect(json.items[0]).toMatchObject({
    state: "refused",
    error: expect.stringContaining("The package pigeon@1.0.0 is not installed"),
    mayLose: true,
  });
  const { status, headers } = await played.server.send({ method: "POST", path: "/in/telegram", body: "1" });
  expect([status, headers["retry-after"]]).toEqual([503, "5"]);
});

test("a probe of one account asks only for that one", async () => {
  await using played = await open();
  const { json } = await played.server.send({
    method: "POST",
    path: "/api/channels/telegram/test?account=work",
  });
  expect(json.items).toEqual([
    {
      name: "telegram",
      account: "work",
      findings: [{ name: "played", state: "warn", message: "as it is", hint: null }],
    },
  ]);
});
