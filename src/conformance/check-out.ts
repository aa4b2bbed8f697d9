/** What a channel sends: once, or as it declares; whole, where it belongs; and what stands in the way is told. */
import type { SendFault, Where } from "../channels/kit/counterpart.ts";
import type { DeliveryId } from "../model/ids.ts";
import { createUlidSource } from "../model/ulid.ts";
import type { StoredDelivery } from "../store/store.ts";
import { eventually, must } from "./expect.ts";
import type { Subject } from "./subject.ts";
import { letters, World } from "./world.ts";

const DM: Where = { kind: "dm", person: 0 };
const GROUP = { kind: "group", group: 0 } as const;

export async function checkUncertainSends(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  for (const [at, kind] of (["accept-then-cut", "cut"] as const).entries()) {
    world.counterpart.failSends({ kind });
    world.counterpart.say({ where: DM, person: 0, text: `uncertain ${kind}` });
    const delivery = (await world.settled(at + 1))[at]!;
    const copies = world
      .sentTo(DM)
      .filter(({ text }) => letters(text).includes(letters(`uncertain ${kind}`)));
    const [least, most] = copiesAllowed(kind, delivery, world);
    const range = least === most ? `${least}` : `${least} to ${most}`;
    const found = { copies: copies.length, delivery: stateOf(delivery) };
    must(`${range} copies after ${kind}`, found, copies.length >= least && copies.length <= most);
  }
  checkViolations(world);
}

function copiesAllowed(
  kind: SendFault["kind"],
  { state, chunks }: StoredDelivery,
  { can }: World,
): readonly [least: number, most: number] {
  if (can.find || can.onUncertain === "repeat") return [1, 1];
  const isMarked = chunks.some(({ isRepeat }) => isRepeat);
  if (can.onUncertain === "repeat-once") return [1, isMarked ? 2 : 1];
  return kind === "accept-then-cut" ? [1, 1] : [state === "sent" ? 1 : 0, 1];
}

export async function checkRateLimit(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const pauseMs = 120_000;
  const sinceMs = world.now();
  world.counterpart.failSends({ kind: "rate-limit", pauseMs });
  world.counterpart.say({ where: DM, person: 0, text: "slowly" });
  await eventually(
    "the delivery told why it waits",
    async () => (await world.cortex.store.outbox.list()).items[0],
    (delivery) => delivery?.error !== undefined,
  );
  must("nothing sent before the platform's pause", world.sentTo(DM), world.sentTo(DM).length === 0);
  await world.pass(pauseMs + 10_000);
  const copies = await world.answer(DM, "echo slowly");
  must("one copy after the pause", copies, copies.length === 1);
  must("a pause as long as the platform asks", world.now() - sinceMs, world.now() - sinceMs >= pauseMs);
  checkViolations(world);
}

export async function checkPlaceGone(subject: Subject): Promise<void> {
  await using world = await World.open(subject, { settings: { groups: "all" } });
  world.counterpart.say({ where: GROUP, person: 0, text: "before" });
  await world.answer(GROUP, "echo before");
  world.counterpart.expel(GROUP);
  const mint = createUlidSource(world.now);
  const target = { channel: world.name, ...world.counterpart.place(GROUP) };
  await world.cortex.store.outbox.notify({ id: mint() as DeliveryId, target, content: "after" });
  const dead = (await world.settled(2)).at(-1)!;
  const found = { state: dead.state, error: dead.error };
  must("a dead letter with the platform's reason", found, dead.state === "dead" && dead.error !== undefined);
  world.counterpart.say({ where: DM, person: 0, text: "elsewhere" });
  await world.answer(DM, "echo elsewhere");
  checkViolations(world);
}

const LONG_BYTES = 100 * 1024;
/** Messages a second are what platforms allow: an answer of many parts takes minutes of their time. */
const SPEED = 30;

export async function checkLongAnswer(subject: Subject): Promise<void> {
  const text = longText();
  const script = `- when: "^tell"\n  plays: [{ say: ${JSON.stringify(text)} }]\n`;
  const settings = { groups: "all" };
  await using world = await World.open(subject, { script, settings, speed: SPEED });
  const where: Where = world.can.threads === "none" ? GROUP : { ...GROUP, topic: 0 };
  const asked = world.counterpart.say({ where, person: 0, text: "tell me all" });
  const [delivery] = await world.settled(1);
  must("the whole answer sent", stateOf(delivery!), delivery?.state === "sent");
  const sent = world.sentTo(where);
  const elsewhere = world.counterpart.sent.filter(({ id }) => !sent.some((each) => each.id === id));
  must("nothing in another place or topic", elsewhere, elsewhere.length === 0);
  const longest = Math.max(...sent.map((each) => each.text.length));
  must(`messages of at most ${world.can.maxLength} characters`, longest, longest <= world.can.maxLength);
  const [expected, found] = [letters(text), letters(sent.map((each) => each.text).join(""))];
  const at = Array.from(expected).findIndex((letter, index) => letter !== found[index]);
  const difference = { at, expected: expected.slice(at, at + 40), found: found.slice(at, at + 40) };
  must("the messages one after the other are the answer", difference, expected === found);
  const replies = sent.map(({ replyTo }) => replyTo);
  const isRight = replies.every((id, index) => id === undefined || (index === 0 && id === asked));
  must("at most the first message as a reply, to what was asked", replies, isRight);
  checkViolations(world);
}

/** Headings, lists, quotes, code and long paragraphs, without addresses, whose letters not every platform shows. */
function longText(): string {
  let text = "";
  for (let n = 0; Buffer.byteLength(text) < LONG_BYTES; n++) {
    text += `## Part ${n}\n\nSome **bold ${n}** and *slanted ${n}* words, \`code ${n}\` too. ${`Sentence ${n} goes on. `.repeat(n % 40)}\n\n`;
    text += `- item ${n}\n- item after ${n}\n\n> quoted ${n}\n\n\`\`\`\nvalue ${n} = <b>&amp;</b> _x_ *y* [z]\n\`\`\`\n\n`;
  }
  return text;
}

function stateOf({ state, error, chunks }: StoredDelivery): object {
  return { state, error, chunks: chunks.map((chunk) => [chunk.state, chunk.isRepeat]) };
}

/** Of every check: the platform's description holds whatever happens. */
export function checkViolations({ counterpart }: World): void {
  must(
    "nothing against the platform's description",
    counterpart.violations,
    counterpart.violations.length === 0,
  );
}
