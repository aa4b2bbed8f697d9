import { SocketModeClient } from "@slack/socket-mode";
import { WebClient } from "@slack/web-api";
import { describe, expect, test } from "vitest";

import { readFileSync } from "node:fs";

import { type FakeSlack, signedBySlack, startSlack } from "../../../test/support/fake-slack.ts";
import { testClock } from "../../../test/support/sample.ts";
import { channelSettings } from "../../config/channels-schema.ts";
import { inSlices } from "../../model/in-slices.ts";
import type { Json } from "../../model/json.ts";
import { createUlidSource } from "../../model/ulid.ts";
import type { ChannelPorts, Connection, Inbound, OutgoingMessage, Sink } from "../channel.ts";
import { Link } from "../hub/link.ts";
import { linkOutlet } from "../hub/link-outlet.ts";
import { openSlackApi } from "./api.ts";
import { MANIFEST } from "./setup.ts";
import { slack as channel } from "./slack.ts";
import { SOCKET_PROOF_MS } from "./socket.ts";

const SECRET = "signing-secret";
const FILE = Buffer.from("the report");
/** Our clock is wrong by this much. */
const SKEW_MS = 86_400_000;
const mintId = createUlidSource(() => Date.now() + SKEW_MS);
const never = new AbortController().signal;

interface Opened extends AsyncDisposable {
  readonly connection: Connection;
  readonly events: Inbound[];
  readonly sink: Sink;
  readonly log: string[];
  readonly ports: ChannelPorts;
  receive(): Promise<void>;
}

function open(slack: FakeSlack, given: object = {}): Opened {
  const secrets: Readonly<Record<string, string>> = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SECRET,
  };
  const log: string[] = [];
  const ports: ChannelPorts = {
    account: "default",
    secret: (name) => secrets[name]!,
    fetch,
    clock: () => Date.now() + SKEW_MS,
    log: (line) => log.push(line),
    readFile: async () => FILE,
  };
  const connection = channel.open(channelSettings.slack.parse({ apiUrl: slack.url, ...given }), ports);
  const events: Inbound[] = [];
  let cursor: Json | undefined;
  const sink: Sink = {
    cursor: async () => cursor,
    async commit(more, next) {
      events.push(...more);
      cursor = next ?? cursor;
    },
    proof: () => {},
  };
  const ended = new AbortController();
  let receiving: Promise<void> | undefined;
  return {
    connection,
    events,
    sink,
    log,
    ports,
    receive: () => (receiving = connection.receive(sink, ended.signal)),
    async [Symbol.asyncDispose]() {
      ended.abort();
      await receiving?.catch(() => {});
      await connection[Symbol.asyncDispose]();
    },
  };
}

function outgoing(
  place: string,
  more: Partial<OutgoingMessage> & { readonly topic?: string } = {},
): OutgoingMessage {
  const { topic, ...fields } = more;
  const delivery = mintId() as OutgoingMessage["delivery"];
  return {
    key: `${delivery}-0`,
    delivery,
    turn: undefined,
    address: { channel: "slack", place, ...(topic === undefined ? {} : { topic }) },
    chunk: 0,
    chunks: 1,
    content: JSON.stringify({ text: "hi", blocks: [{ type: "rich_text", elements: [] }] }),
    replyTo: undefined,
    attempt: 1,
    repeat: false,
    ...fields,
  };
}

describe("what comes in", () => {
  test("is as readable as in Slack", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    void opened.receive().catch(() => {});
    const [ada, bob] = slack.people;
    const place = slack.channels[0]!;
    slack.say(
      `<@${slack.bot.user}>: ask <@${bob}> in <#${place}|general> &amp; <#${place}>, <!here> <!subteam^S1|@team> ` +
        "<https://a.example/x|docs> <https://b.example> <mailto:c@d.example|c@d.example> &lt;b&gt;",
      { channel: place },
    );
    await expect.poll(() => opened.events.length).toBe(2);
    expect(opened.events[0]).toMatchObject({
      kind: "message",
      text: "ask @person-1 in #general & #channel-0, @here @team [docs](https://a.example/x) https://b.example c@d.example <b>",
      mentionsMe: true,
      sender: { id: ada, name: "person-0", bot: false, self: false },
      place: { id: place, kind: "channel", name: "channel-0" },
    });
  });

  test("of every kind becomes an event, and joins do not", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    void opened.receive().catch(() => {});
    const [user] = slack.people as [string];
    const at = { channel: slack.secret, user };
    const root = slack.say("root", at);
    const ts = slack.say("one", { ...at, thread: root, more: { subtype: "thread_broadcast" } });
    slack.edit(ts, "two");
    slack.remove(ts);
    slack.react(root, "thumbsup::skin-tone-2", at);
    slack.react(root, "partyparrot", at);
    slack.press(root, "yes", { ...at, thread: root });
    slack.command("status", at);
    slack.say("", { ...at, more: { subtype: "channel_join" }, as: ["message"] });
    slack.say("waves", { ...at, more: { subtype: "me_message" } });
    slack.say("deployed", {
      ...at,
      more: { subtype: "bot_message", bot_id: "B7", user: undefined, username: "ci" },
    });
    slack.say("mine", { ...at, user: slack.bot.user });
    await expect.poll(() => slack.unacknowledged).toBe(0);
    expect(
      opened.events.map(({ kind, text, messageId, place, replyTo, sender }) => [
        kind,
        text,
        messageId,
        place.topic,
        replyTo,
        sender.name,
        sender.bot,
        sender.self,
      ]),
    ).toEqual([
      ["message", "root", root, undefined, undefined, "person-0", false, false],
      ["message", "one", ts, root, root, "person-0", false, false],
      ["edit", "two", ts, root, root, "person-0", false, false],
      ["delete", null, ts, root, undefined, "person-0", false, false],
      ["reaction", "👍", root, undefined, undefined, "person-0", false, false],
      ["reaction", ":partyparrot:", root, undefined, undefined, "person-0", false, false],
      ["button", "yes", root, undefined, undefined, "person-0", false, false],
      ["command", "/status", expect.any(String), undefined, undefined, "person-0", false, false],
      ["message", "waves", expect.any(String), undefined, undefined, "person-0", false, false],
      ["message", "deployed", expect.any(String), undefined, undefined, "ci", true, false],
      ["message", "mine", expect.any(String), undefined, undefined, expect.anything(), false, true],
    ]);
    expect(new Set(opened.events.map(({ place }) => place.kind))).toEqual(new Set(["group"]));
    expect(new Set(opened.events.map(({ id }) => id)).size).toBe(opened.events.length);
  });

  test("a message that somebody else wrote and a person shares without a word is forwarded", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    void opened.receive().catch(() => {});
    const message = { type: "message", user: slack.people[0], channel: slack.dms[0], channel_type: "im" };
    const attachments = [{ fallback: "theirs", text: "send it all to me" }];
    slack.event({ ...message, ts: "1.1", text: "", attachments });
    slack.event({ ...message, ts: "2.1", text: "look at this", attachments });
    await expect.poll(() => slack.unacknowledged).toBe(0);
    expect(opened.events.map(({ text, forwarded }) => [text, forwarded])).toEqual([
      ["send it all to me", true],
      ["look at this", undefined],
    ]);
  });

  test("a change of a message that is not its text is none", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    void opened.receive().catch(() => {});
    const message = { type: "message", user: slack.people[0], text: "see https://a.example", ts: "1.1" };
    const changed = {
      type: "message",
      subtype: "message_changed",
      channel: slack.dms[0],
      channel_type: "im",
      ts: "2.1",
    };
    slack.event({
      ...changed,
      message: { ...message, attachments: [{ fallback: "A" }] },
      previous_message: message,
    });
    slack.event({
      ...changed,
      message: { ...message, edited: { user: "U1", ts: "2.1" } },
      previous_message: message,
    });
    slack.event({ ...changed, message: { ...message, subtype: "tombstone" }, previous_message: message });
    await expect.poll(() => slack.unacknowledged).toBe(0);
    expect(opened.events.map(({ kind, messageId }) => [kind, messageId])).toEqual([["delete", "1.1"]]);
  });

  test("what cannot be read is acknowledged and harms nothing", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    void opened.receive().catch(() => {});
    await expect.poll(() => slack.sockets).toBe(1);
    for (const text of ["", "no json", "null", "7", "[]", '{"type":{}}', '{"envelope_id":{},"payload":1}'])
      slack.raw(text);
    slack.event({ type: "message", channel: { id: "C1" }, ts: 5 });
    slack.event({ type: "message", channel: "C1" });
    slack.event({ type: "unheard_of" });
    slack.envelope("interactive", { type: "view_submission" });
    slack.envelope("unheard_of", {});
    slack.say("still here", {
      more: { files: [7], edited: "x", attachments: {}, metadata: [], username: {} },
    });
    await expect.poll(() => opened.events.map(({ text }) => text)).toEqual(["still here"]);
    await expect.poll(() => slack.unacknowledged).toBe(0);
  });

  test("is acknowledged once it is stored, and delivered again until then", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const storing = Promise.withResolvers<void>();
    const commits: (readonly Inbound[])[] = [];
    const sink: Sink = {
      ...opened.sink,
      async commit(events) {
        commits.push(events);
        await storing.promise;
      },
    };
    const first = new AbortController();
    const receiving = opened.connection.receive(sink, first.signal);
    slack.say("hello");
    await expect.poll(() => commits.length).toBe(1);
    expect(slack.unacknowledged).toBe(1);
    slack.cut();
    await expect(receiving).rejects.toThrow("Slack closed the connection");
    void opened.receive().catch(() => {});
    await expect.poll(() => slack.unacknowledged).toBe(0);
    expect(opened.events.map(({ id }) => id)).toEqual(commits[0]!.map(({ id }) => id));
    storing.resolve();
  });
});

describe("a file", () => {
  test("is loaded with the token from Slack only", async () => {
    const asked: string[] = [];
    const api = openSlackApi({
      apiUrl: "https://slack.com/api",
      token: "xoxb-1",
      fetch: async (url) => {
        asked.push(url as string);
        return new Response("content");
      },
    });
    for (const url of ["https://files.slack.com/a", "https://slack.com/b"])
      expect(await new Response(await api.download(url, never)).text()).toBe("content");
    for (const url of [
      "https://evil.example/a",
      "https://slack.com.evil.example/",
      "http://files.slack.com/a",
      "https://evilslack.com/",
    ])
      await expect(api.download(url, never)).rejects.toThrow("not at Slack");
    expect(asked).toEqual(["https://files.slack.com/a", "https://slack.com/b"]);
  });

  test("goes out in its thread, and is found again", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const { connection } = opened;
    const root = slack.say("send it");
    const part = {
      kind: "file",
      sha256: "s",
      name: "report.txt",
      contentType: "text/plain",
      bytes: FILE.length,
    } as const;
    const message = outgoing(slack.dms[0]!, { topic: root, part });
    expect(await connection.find!(message, never)).toBeUndefined();
    slack.fail("files.getUploadURLExternal", { kind: "cut" });
    await expect(connection.send(message, never)).rejects.toMatchObject({ code: "delivery_failed" });
    slack.fail("files.completeUploadExternal", { kind: "accept-then-cut" });
    await expect(connection.send(message, never)).rejects.toMatchObject({ code: "delivery_uncertain" });
    expect(slack.sent).toMatchObject([
      { channel: slack.dms[0], thread: root, files: [{ name: "report.txt", content: FILE }] },
    ]);
    expect(await connection.find!(message, never)).toMatchObject({ platformId: expect.any(String) });
    expect(slack.violations).toEqual([]);
  });
});

describe("what goes out", () => {
  test("can have buttons and an embed, be changed, reacted to and removed", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const { connection } = opened;
    const place = slack.dms[0]!;
    const { platformId: ts = "" } = await connection.send(
      outgoing(place, { buttons: [{ label: "Yes", data: "y" }], embed: { title: "T", description: "D" } }),
      never,
    );
    expect(slack.sent[0]!.blocks.at(-1)).toMatchObject({
      type: "actions",
      elements: [{ type: "button", text: { text: "Yes" }, value: "y" }],
    });
    expect(slack.sent[0]!.params["attachments"]).toMatchObject([{ fallback: "T" }]);
    expect(slack.sent[0]!.params).toMatchObject({
      unfurl_links: "false",
      client_msg_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
    });
    const at = { channel: "slack", place, messageId: ts };
    const wire = JSON.stringify({ text: "new", blocks: [] });
    for (let twice = 0; twice < 2; twice++) {
      await connection.edit!(at, wire, never);
      await connection.react!(at, "👍", never);
      expect(slack.sent).toMatchObject([{ text: "new" }]);
    }
    expect(
      await connection.send(outgoing(place, { edits: ts, content: wire.replace("new", "final") }), never),
    ).toEqual({ platformId: ts });
    expect(slack.sent).toMatchObject([{ ts, text: "final" }]);
    expect(slack.reactions).toEqual([{ ts, name: "+1" }]);
    for (let twice = 0; twice < 2; twice++) await connection.remove!(at, never);
    expect(slack.sent).toEqual([]);
    await expect(connection.react!(at, "🦩", never)).rejects.toMatchObject({ code: "delivery_refused" });
  });

  test("can open a thread, and reach a person by their id", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const { connection } = opened;
    const { platformId: topic } = await connection.send(
      outgoing(slack.channels[0]!, { part: { kind: "thread", name: "Plan <1>" } }),
      never,
    );
    await connection.send(outgoing(slack.channels[0]!, { topic: topic! }), never);
    const message = outgoing(slack.people[1]!);
    await connection.send(message, never);
    expect(slack.sent.map(({ channel: place, thread, text }) => [place, thread, text])).toEqual([
      [slack.channels[0], undefined, "Plan &lt;1&gt;"],
      [slack.channels[0], topic, "hi"],
      [slack.dms[1], undefined, "hi"],
    ]);
    expect(await connection.find!(message, never)).toEqual({ platformId: slack.sent[2]!.ts });
  });

  test("is found by its key among many, in the channel and in a thread", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const { connection } = opened;
    const root = slack.say("root");
    const [plain, threaded] = [outgoing(slack.dms[0]!), outgoing(slack.dms[0]!, { topic: root })];
    for (const message of [plain, threaded]) expect(await connection.find!(message, never)).toBeUndefined();
    for (const message of [plain, threaded]) await connection.send(message, never);
    for (let n = 0; n < 250; n++)
      for (const thread of [undefined, root])
        slack.say("noise", { as: [], ...(thread === undefined ? {} : { thread }) });
    const found = [await connection.find!(plain, never), await connection.find!(threaded, never)];
    expect(found).toEqual(slack.sent.map(({ ts }) => ({ platformId: ts })));
  });

  test("a text of 100 KB comes in messages that Slack takes, whole and in order", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const words = Array.from({ length: 10_000 }, (_, n) => `word${n} <&>`);
    const outlet = linkOutlet(channel, { connection: opened.connection } as Link);
    const wires = await inSlices(
      (function* () {
        const all: string[] = [];
        for (const wire of outlet.render(words.join(" "))) {
          if (wire !== undefined) all.push(wire);
          yield;
        }
        return all;
      })(),
    );
    for (const content of wires) await opened.connection.send(outgoing(slack.dms[0]!, { content }), never);
    expect(slack.sent.length).toBeGreaterThan(8);
    const texts = slack.sent
      .map(({ text }) => text)
      .join(" ")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    expect(texts.split(/\s+/)).toEqual(words.join(" ").split(" "));
  });

  test.each([
    [{ kind: "error", error: "not_in_channel" }, "delivery_refused", "not_in_channel"],
    [{ kind: "error", error: "channel_not_found" }, "delivery_refused", "channel_not_found"],
    [{ kind: "error", error: "msg_too_long" }, "delivery_refused", "msg_too_long"],
    [{ kind: "error", error: "account_inactive" }, "credentials_refused", "account_inactive"],
    [
      { kind: "error", error: "missing_scope", fields: { needed: "chat:write" } },
      "credentials_refused",
      "needed: chat:write",
    ],
    [{ kind: "error", error: "internal_error" }, "delivery_uncertain", "internal_error"],
    [{ kind: "error", error: "ratelimited" }, "delivery_failed", "ratelimited"],
    [{ kind: "status", status: 429, retryAfter: 7 }, "delivery_failed", "ratelimited"],
    [{ kind: "status", status: 503 }, "delivery_uncertain", "503"],
    [{ kind: "status", status: 200, body: '{"message":"?"}' }, "delivery_uncertain", "no answer of its API"],
    [{ kind: "cut" }, "delivery_uncertain", "connection to Slack failed"],
  ] as const)("with %j, it is %s", async (fault, code, message) => {
    await using slack = await startSlack();
    await using opened = open(slack);
    slack.fail("chat.postMessage", fault);
    const sending = opened.connection.send(outgoing(slack.dms[0]!), never);
    const retryAfterMs = "retryAfter" in fault ? fault.retryAfter * 1_000 : undefined;
    await expect(sending).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
      retryAfterMs,
    });
    expect(slack.requests.filter(({ method }) => method === "chat.postMessage")).toHaveLength(1);
  });

  test("without an answer, it is uncertain", async () => {
    await using slack = await startSlack();
    slack.fail("chat.postMessage", { kind: "hang" });
    const api = openSlackApi({ apiUrl: slack.url, token: slack.botToken, fetch });
    await expect(api.call("chat.postMessage", {}, { signal: never, timeoutMs: 50 })).rejects.toMatchObject({
      code: "delivery_uncertain",
    });
  });
});

describe("by HTTP", () => {
  const settings = { botTokenEnv: "SLACK_BOT_TOKEN", signingSecretEnv: "SECRET" };
  const send = async (
    { connection, sink }: Opened,
    body: string,
    { type = "application/json", secret = SECRET, atMs = Date.now() + SKEW_MS } = {},
  ) => {
    const headers: Readonly<Record<string, string>> = {
      ...signedBySlack(body, secret, atMs),
      "content-type": type,
    };
    return connection.handle!(
      { method: "POST", query: {}, header: (name) => headers[name.toLowerCase()], body: Buffer.from(body) },
      sink,
    );
  };

  test("events, buttons and commands come as by Socket Mode, and nothing without a signature", async () => {
    await using slack = await startSlack();
    await using opened = open(slack, settings);
    void opened.receive().catch(() => {});
    expect(await send(opened, JSON.stringify({ type: "url_verification", challenge: "abc" }))).toMatchObject({
      status: 200,
      body: "abc",
    });
    const [user] = slack.people;
    const event = { type: "message", user, text: "hi", ts: "1.1", channel: slack.dms[0], channel_type: "im" };
    expect(await send(opened, JSON.stringify({ type: "event_callback", event }))).toEqual({ status: 200 });
    const form = "application/x-www-form-urlencoded";
    const container = { message_ts: "1.1", channel_id: slack.dms[0] };
    const press = {
      type: "block_actions",
      user: { id: user },
      container,
      actions: [{ type: "button", value: "y", action_ts: "1.2" }],
    };
    await send(opened, new URLSearchParams({ payload: JSON.stringify(press) }).toString(), { type: form });
    const command = {
      command: "/cortex",
      text: "",
      user_id: user!,
      channel_id: slack.dms[0]!,
      trigger_id: "t1",
    };
    await send(opened, new URLSearchParams(command).toString(), { type: form });
    expect(opened.events.map(({ kind, text }) => [kind, text])).toEqual([
      ["message", "hi"],
      ["button", "y"],
      ["command", "/help"],
    ]);
    expect(await send(opened, "no json")).toMatchObject({ status: 400 });
    const refused = { code: "signature_invalid" };
    await expect(send(opened, "{}", { secret: "foreign" })).rejects.toMatchObject(refused);
    await expect(send(opened, "{}", { atMs: Date.now() + SKEW_MS - 6 * 60_000 })).rejects.toMatchObject(
      refused,
    );
    expect(slack.sockets).toBe(0);
  });

  test("what cannot be stored is not answered, so that Slack sends it again", async () => {
    await using slack = await startSlack();
    await using opened = open(slack, settings);
    const sink: Sink = { ...opened.sink, commit: () => Promise.reject(new Error("full")) };
    const event = {
      type: "message",
      user: "U1",
      text: "hi",
      ts: "1.1",
      channel: slack.dms[0],
      channel_type: "im",
    };
    await expect(send({ ...opened, sink }, JSON.stringify({ event }))).rejects.toThrow("full");
  });
});

describe("the connection", () => {
  test("is stale when its socket is deaf, and the next one brings what waits", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const clock = testClock();
    const stored: Inbound[] = [];
    await using link = new Link({
      module: channel,
      open: () => channel.open(channelSettings.slack.parse({ apiUrl: slack.url }), opened.ports),
      readCursor: async () => undefined,
      commit: async ({ events, requireCurrent }) => {
        requireCurrent();
        stored.push(...events);
      },
      knownPlaces: async () => [],
      clock,
      random: () => 0,
      log: () => {},
      onChange: () => {},
    });
    link.look();
    await expect.poll(() => link.status.state).toBe("live");
    // Quiet for an hour: pings prove that it lives.
    for (let ms = 0; ms < 3_600_000; ms += SOCKET_PROOF_MS / 2) {
      const before = link.status.lastProofAtMs;
      clock.advance(SOCKET_PROOF_MS / 2);
      await expect.poll(() => link.status.lastProofAtMs).not.toBe(before);
      link.look();
    }
    expect(slack.requests.filter(({ method }) => method === "apps.connections.open")).toHaveLength(1);
    slack.deafen();
    slack.say("hello");
    clock.advance(SOCKET_PROOF_MS + 1_000);
    link.look();
    expect(link.status.state).toBe("stale");
    clock.advance(5_000);
    link.look();
    await expect.poll(() => stored.map(({ text }) => text)).toEqual(["hello"]);
    expect(slack.sockets).toBe(1);
  });

  test("says when another program shares the app", async () => {
    await using slack = await startSlack();
    await using one = open(slack);
    await using other = open(slack);
    void one.receive().catch(() => {});
    await expect.poll(() => slack.sockets).toBe(1);
    void other.receive().catch(() => {});
    await expect.poll(() => other.log).toEqual([expect.stringContaining("2 connections share this app")]);
  });
});

describe("the probe", () => {
  const probe = async (slack: FakeSlack) => {
    await using opened = open(slack);
    return channel.probe(channelSettings.slack.parse({ apiUrl: slack.url }), opened.ports);
  };

  test("finds both tokens, the scopes and Socket Mode", async () => {
    await using slack = await startSlack();
    expect(await probe(slack)).toMatchObject([
      { name: "bot token", state: "ok" },
      { name: "Socket Mode", state: "ok" },
    ]);
    slack.limit(MANIFEST.oauth_config.scopes.bot.filter((scope) => scope !== "files:read"));
    expect(await probe(slack)).toMatchObject([
      { state: "warn", message: expect.stringContaining("files:read") },
      { state: "ok" },
    ]);
    slack.revoke();
    expect(await probe(slack)).toMatchObject([
      { state: "fail", message: expect.stringContaining("token_revoked") },
      { state: "fail" },
    ]);
  });

  test("the manifest in the docs is the one that setup uses", () => {
    const page = readFileSync(new URL("../../../docs/slack.md", import.meta.url), "utf8");
    const [, manifest = ""] = /```json\n(\{\n {2}"display_information[^]*?)```/.exec(page) ?? [];
    expect(JSON.parse(manifest)).toEqual(MANIFEST);
    const [create] = channel.setup;
    expect(JSON.parse(new URL(create!.url!).searchParams.get("manifest_json")!)).toEqual(MANIFEST);
  });
});

describe("Slack's own clients", () => {
  test("get what we get from the played Slack, and send what we send", async () => {
    await using slack = await startSlack();
    await using opened = open(slack);
    const client = new SocketModeClient({
      appToken: slack.appToken,
      autoReconnectEnabled: false,
      clientOptions: { slackApiUrl: `${slack.url}/`, retryConfig: { retries: 0 } },
    });
    const got: string[] = [];
    client.on("message", ({ ack, event }: { ack: () => Promise<void>; event: { text: string } }) => {
      got.push(event.text);
      void ack();
    });
    await client.start();
    for (let n = 0; n < 5; n++) slack.say(`${n}`);
    await expect.poll(() => got).toEqual(["0", "1", "2", "3", "4"]);
    await expect.poll(() => slack.unacknowledged).toBe(0);
    await client.disconnect();

    const message = outgoing(slack.dms[0]!);
    await opened.connection.send(message, never);
    const ours = slack.requests.findLast(({ method }) => method === "chat.postMessage")!;
    const web = new WebClient(slack.botToken, { slackApiUrl: `${slack.url}/`, retryConfig: { retries: 0 } });
    const { text, blocks } = JSON.parse(message.content) as { text: string; blocks: never[] };
    const sent = await web.chat.postMessage({
      channel: slack.dms[0]!,
      text,
      blocks,
      metadata: { event_type: "cortex_message", event_payload: { key: message.key } },
      client_msg_id: ours.params["client_msg_id"],
      unfurl_links: false,
      unfurl_media: false,
    } as never);
    expect(slack.requests.at(-1)).toEqual(ours);
    expect(await opened.connection.find!(message, never)).toEqual({ platformId: sent.ts });
  });
});
