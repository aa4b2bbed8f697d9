/** The hooks that come with Cortex, each with events that it is for and events that it is not for. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import type { Identity } from "../src/model/principal.ts";
import type { Cortex, CortexOptions } from "../src/runtime/cortex.ts";
import type { IncomingWebhook } from "../src/channels/webhook/webhooks.ts";
import { type HomeFiles, openTestCortex } from "./support/home.ts";
import { judge, judged } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";

const AT_NINE_MS = Date.UTC(2026, 2, 1, 9);
const SECRET = "whsec_of_a_test";
/** A minute in which no hook has anything to do by itself. */
const clock = (): number => Date.UTC(2026, 2, 1, 3, 7);

/** A Cortex with one of the hooks, enabled, and as its owner would have changed it. */
async function open(
  name: string,
  { change = {}, ...files }: HomeFiles & { readonly change?: Readonly<Record<string, string>> } = {},
  options: Partial<CortexOptions> = {},
): Promise<Cortex> {
  let source = readFileSync(new URL(`../hooks/${name}.ts`, import.meta.url), "utf8");
  for (const [from, to] of Object.entries(change)) {
    expect(source).toContain(from);
    source = source.replace(from, to);
  }
  const cortex = await openTestCortex(
    { cortex: { timezone: "UTC" }, ...files, hooks: { [`${name}.ts`]: source } },
    { clock, ...options },
  );
  await expect.poll(() => cortex.store.hooks.get(name), PATIENT).toMatchObject({ error: undefined });
  await cortex.hooks.setEnabled(name, true);
  return cortex;
}

/** What the model of the hooks says, as JSON in JSON's own quotes. */
const says = (when: string, answer: object): string =>
  `- { when: ${JSON.stringify(when)}, plays: [{ say: ${JSON.stringify(JSON.stringify(answer))} }] }`;

const paired = (channel: string, sender: string): object => ({
  timezone: "UTC",
  channels: { paired: [{ channel, sender }] },
});

test("default-dm-routing has a direct message of a paired sender answered", async () => {
  await using cortex = await open("default-dm-routing", { cortex: paired("telegram", "ada") });
  const message = { channel: "telegram", sender: "ada", place: "ada", content: "hello" };
  const { runs, dispatches } = await judge(cortex, message);
  expect(runs).toMatchObject([{ hook: "default-dm-routing", fired: true, error: undefined }]);
  expect(dispatches).toMatchObject([{ hook: "default-dm-routing", session: "agent:main:telegram:dm:ada" }]);
  const turns = () => cortex.store.counts().then((counts) => counts.turns);
  await expect.poll(turns, PATIENT).toBe(1);
});

test("default-dm-routing keeps people apart: only the owner's own messages reach the owner's session", async () => {
  await using cortex = await open("default-dm-routing", { cortex: paired("telegram", "ada") });
  const { people } = cortex.store;
  const by = { principal: "owner" };
  await people.add({ id: "bob", name: "Bob", role: "member", identities: ["telegram:7" as Identity] }, by);
  await people.change("owner", { link: ["telegram:1" as Identity] }, by);
  const sessionOf = async (fields: object) => {
    const { event, dispatches } = await judge(cortex, { channel: "telegram", content: "hello", ...fields });
    const principal = (await cortex.store.events.get(event))?.principal;
    return [principal, dispatches.map(({ session }) => session)];
  };
  const inPerson = { metadata: { is_group: false } };
  expect(await sessionOf({ sender: "1", place: "1" })).toEqual(["owner", ["agent:main:main"]]);
  for (const how of [{ place: "7" }, {}, { place: "7-bot", ...inPerson }, { placeKind: "dm" }])
    expect(await sessionOf({ sender: "7", ...how })).toEqual(["person:bob", ["agent:main:telegram:dm:7"]]);
  const unknownKind = await sessionOf({ sender: "ada", place: "somewhere" });
  expect(unknownKind).toEqual(["person:telegram-ada", ["agent:main:telegram:group:somewhere"]]);
});

test("what no hook listens to is not even put aside to be judged", async () => {
  await using cortex = await open("default-dm-routing");
  const { hooks } = cortex;
  const wanted = () => ["telegram", "cli", "timer"].filter((channel) => hooks.wants("received", channel));
  expect([wanted(), hooks.wants("received"), hooks.wants("sent")]).toEqual([["telegram"], true, false]);
  await hooks.setEnabled("default-dm-routing", false);
  expect([wanted(), hooks.wants("received")]).toEqual([[], false]);
  await hooks.setEnabled("default-dm-routing", true);
  expect(wanted()).toEqual(["telegram"]);
});

test("default-dm-routing lets strangers be recorded, and nothing more", async () => {
  await using cortex = await open("default-dm-routing");
  const { dispatches } = await judge(cortex, { channel: "telegram", sender: "eve", content: "hello" });
  expect(dispatches).toEqual([]);
});

test("default-dm-routing leaves alone what is said among many, says nothing, or is no message", async () => {
  await using cortex = await open("default-dm-routing", { cortex: paired("telegram", "ada") });
  const message = { channel: "telegram", sender: "ada", content: "hello all" };
  for (const other of [
    { metadata: { is_group: true } },
    { metadata: { chat_type: "supergroup" } },
    { content: null },
    { channel: "webhook" },
    { direction: "sent" as const },
  ]) {
    const { runs, dispatches } = await judge(cortex, { ...message, ...other });
    expect([other, runs.filter(({ fired }) => fired), dispatches]).toEqual([other, [], []]);
  }
});

test("work-whatsapp-routing sends one person's messages to an agent of their own", async () => {
  const cortexJson = { ...paired("whatsapp", "+15550100"), agents: { work: {} } };
  await using cortex = await open("work-whatsapp-routing", { cortex: cortexJson });
  const { dispatches } = await judge(cortex, { channel: "whatsapp", sender: "+15550100", content: "hi" });
  expect(dispatches).toMatchObject([{ session: "agent:work:whatsapp:dm:+15550100" }]);

  for (const other of [
    { channel: "whatsapp", sender: "+15550199" },
    { channel: "sms", sender: "+15550100" },
  ]) {
    expect((await judge(cortex, { ...other, content: "hi" })).runs).toEqual([]);
  }
});

test("mom-2fa-helper has a model decide, and asks it about nobody else", async () => {
  const script = [
    says("what is my code", { is_2fa: true, service: "Bank", confidence: 0.9 }),
    says("codes in general", { is_2fa: true, service: null, confidence: 0.3 }),
    says("dinner", { is_2fa: false, service: null, confidence: 0.9 }),
  ].join("\n");
  await using cortex = await open("mom-2fa-helper", { cortex: paired("sms", "+15550101"), script });
  const mom = { channel: "sms", sender: "+15550101" };

  const fired = await judge(cortex, { ...mom, content: "what is my code for the bank?" });
  expect(fired.runs).toMatchObject([
    { fired: true, llmCalls: 1, result: { context: { extracted: { service: "Bank", confidence: 0.9 } } } },
  ]);
  expect(fired.dispatches).toMatchObject([{ session: "agent:main:main" }]);
  for (const content of ["codes in general", "dinner?"]) {
    expect((await judge(cortex, { ...mom, content })).runs).toMatchObject([{ fired: false, llmCalls: 1 }]);
  }
  const stranger = { channel: "sms", sender: "+15550199", content: "what is my code" };
  expect((await judge(cortex, stranger)).runs).toEqual([]);
});

test("heartbeat wakes the agent every half hour of the day, and not at night", async () => {
  await using cortex = await open("heartbeat");
  const tick = async (time: string) =>
    (
      await judge(cortex, {
        channel: "timer",
        sourceId: `2026-03-01T${time}Z`,
        timestampMs: Date.parse(`2026-03-01T${time}:00Z`),
      })
    ).dispatches.map(({ session }) => session);

  expect(await tick("09:00")).toEqual(["agent:main:cron:heartbeat"]);
  expect(await tick("22:30")).toEqual(["agent:main:cron:heartbeat"]);
  for (const time of ["07:30", "09:01", "23:00", "03:30"])
    expect([time, await tick(time)]).toEqual([time, []]);
});

const casey = { change: { "2030-01-01T23:30": "2026-03-01T09:00" } };
const nine = { channel: "timer", sourceId: "2026-03-01T09:00Z", timestampMs: AT_NINE_MS };

test("casey-safety-check fires once if Casey has not written, and is done then", async () => {
  await using cortex = await open("casey-safety-check", casey);
  const { runs, dispatches } = await judge(cortex, nine);
  expect(runs).toMatchObject([
    { fired: true, llmCalls: 0, result: { context: { extracted: { messages: 0 } } } },
  ]);
  expect(dispatches).toMatchObject([{ session: "agent:main:main" }]);
  expect(await cortex.store.hooks.get("casey-safety-check")).toMatchObject({ state: "disabled" });
});

test.each([
  ["is done without a word if Casey is safe", true, false],
  ["fires if what Casey wrote says nothing", false, true],
])("casey-safety-check %s", async (_, safe, fired) => {
  const script = says("home at last", { safe });
  await using cortex = await open("casey-safety-check", { ...casey, script });
  const written = { channel: "email", sender: "casey@example.com", content: "home at last" };
  await judge(cortex, { ...written, timestampMs: AT_NINE_MS - 3_600_000 });

  expect((await judge(cortex, nine)).runs).toMatchObject([{ fired, llmCalls: 1 }]);
  expect(await cortex.store.hooks.get("casey-safety-check")).toMatchObject({ state: "disabled" });
});

/** What Stripe sends, as it signs it. */
function signedByStripe(payload: object): IncomingWebhook {
  const body = JSON.stringify(payload);
  const seconds = Math.floor(clock() / 1_000);
  const signature = createHmac("sha256", SECRET).update(`${seconds}.${body}`).digest("hex");
  return {
    header: (name) =>
      name.toLowerCase() === "stripe-signature" ? `t=${seconds},v1=${signature}` : undefined,
    body: async () => Buffer.from(body),
  };
}

test("stripe-high-value tells of large payments, and of nothing else that Stripe or others report", async () => {
  const webhook = { scheme: "stripe", secretEnv: "STRIPE" };
  await using cortex = await open(
    "stripe-high-value",
    { cortex: { timezone: "UTC", channels: { webhooks: { stripe: webhook, other: webhook } } } },
    { environment: { PATH: process.env["PATH"], STRIPE: SECRET } },
  );
  let count = 0;
  const paid = async (amount: number, { type = "payment_intent.succeeded", name = "stripe" } = {}) => {
    const object = { id: "pi_1", amount, currency: "eur" };
    const request = signedByStripe({ id: `evt_${++count}`, type, data: { object } });
    const taken = await cortex.webhooks.receive(name, request);
    expect(taken.kind).toBe("event");
    return judged(cortex, (taken as Extract<typeof taken, { kind: "event" }>).event);
  };

  const { runs, dispatches } = await paid(25_000);
  expect(runs).toMatchObject([
    { fired: true, result: { context: { extracted: { id: "pi_1", amount: 25_000, currency: "eur" } } } },
  ]);
  expect(dispatches).toMatchObject([{ session: "agent:main:webhook:stripe" }]);
  expect((await paid(10_000)).runs).toMatchObject([{ fired: false }]);
  expect((await paid(25_000, { type: "payment_intent.created" })).runs).toEqual([]);
  expect((await paid(25_000, { name: "other" })).runs).toEqual([]);
});

test("flight-checkin has a model read mails of airlines, and tells of each flight once a day", async () => {
  const flight = { flight: "LH400", confirmation: "ABC123", departs: "2026-03-05T10:25" };
  const script = [
    says("LH400", flight),
    says("newsletter", { flight: null, confirmation: null, departs: null }),
  ].join("\n");
  const airline = "news@booking.lufthansa.com";
  await using cortex = await open("flight-checkin", { cortex: paired("email", airline), script });
  const mail = (sender: string, content: string) => judge(cortex, { channel: "email", sender, content });

  const first = await mail(airline, "Your itinerary: LH400 to New York");
  expect(first.runs).toMatchObject([
    { fired: true, llmCalls: 1, result: { context: { extracted: flight } } },
  ]);
  expect(first.dispatches).toMatchObject([{ session: "agent:main:cron:flights" }]);
  const second = await mail(airline, "Online check-in for LH400 opens soon");
  expect(second.runs).toMatchObject([{ fired: false, llmCalls: 1 }]);
  const nothing = await mail(airline, "Our newsletter: every itinerary at half price");
  expect(nothing.runs).toMatchObject([{ fired: false, llmCalls: 1 }]);

  const foreign = await mail("ada@example.com", "Check-in for LH400?");
  expect(foreign.runs).toMatchObject([{ fired: false, llmCalls: 0 }]);
  expect((await mail(airline, "We have a new logo")).runs).toEqual([]);
});
