/** What a channel takes in: who is answered, what is recorded, and in which state files are. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { PlayedMessage, SentMessage, Where } from "../channels/kit/counterpart.ts";
import type { StoredEvent } from "../store/store.ts";
import { checkViolations } from "./check-out.ts";
import { eventually, must } from "./expect.ts";
import type { Subject } from "./subject.ts";
import { World } from "./world.ts";

const DM: Where = { kind: "dm", person: 0 };
const GROUP: Where = { kind: "group", group: 0 };
const STRANGER = 7;

export async function checkStrangers(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const where: Where = { kind: "dm", person: STRANGER };
  world.counterpart.say({ where, person: STRANGER, text: "let me in" });
  const [told] = await eventually(
    "a message to the stranger",
    () => world.sentTo(where),
    (sent) => sent.length > 0,
  );
  must("a pairing code", told!.text, /\b[A-Z2-9]{8}\b/.test(told!.text));
  const { turns } = await world.cortex.store.counts();
  must("no turn", turns, turns === 0);
  checkViolations(world);
}

export async function checkGroups(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const { counterpart } = world;
  counterpart.say({ where: GROUP, person: 0, text: "nice weather" });
  counterpart.say({ where: GROUP, person: 0, text: "are you there", mention: true });
  const [answer] = await world.answer(GROUP, "echo are you there");
  must(
    "an answer to nothing but what addresses the account",
    world.sentTo(GROUP),
    world.sentTo(GROUP).length === 1,
  );
  const [ignored, addressed] = await world.events();
  const reason = admissionOf(ignored!);
  must("the other message recorded, with its reason", reason, reason?.reason === "not addressed");
  const text = addressed?.content ?? "";
  must("the text without the mention", text, text.trim() === "are you there");
  counterpart.say({ where: GROUP, person: 0, text: "as a reply", replyTo: answer!.id });
  await world.answer(GROUP, "echo as a reply");
  counterpart.say({ where: GROUP, person: 0, text: "from a machine", mention: true, bot: true });
  const last = await eventually(
    "the message of a bot recorded",
    async () => (await world.events()).at(-1)!,
    ({ content }) => content?.includes("machine") === true,
  );
  must("a bot not answered", admissionOf(last), admissionOf(last)?.answered === false);
  checkViolations(world);
}

function admissionOf({ metadata }: StoredEvent): { answered?: boolean; reason?: string } | undefined {
  return (metadata as { admission?: ReturnType<typeof admissionOf> } | null)?.admission;
}

const ASKING = {
  personas: { atlas: { permissions: { ask: ["Bash"] } } },
};

/** One decision, whoever presses what, how often, and in which life of Cortex. */
export async function checkApprovals(subject: Subject): Promise<void> {
  const script = `
- when: "^pay"
  plays:
    - calls: [{ tool: Bash, args: { command: "echo paid >> paid.txt" } }]
    - say: "it is over"
- when: ".*"
  plays: [{ say: "no" }]
`;
  await using world = await World.open(subject, { script, cortex: ASKING });
  const { counterpart } = world;
  counterpart.say({ where: DM, person: 0, text: "pay now" });
  const request = await eventually(
    "the request in the chat",
    () => world.sentTo(DM).find(({ text, buttons }) => text.includes("/approve") || buttons.length > 0),
    (sent) => sent !== undefined,
  );
  await world.restart();
  decide(request!, { where: { kind: "dm", person: STRANGER }, person: STRANGER }, world);
  decide(request!, { where: DM, person: 0 }, world);
  decide(request!, { where: DM, person: 0 }, world);
  await world.answer(DM, "it is over");
  await world.acknowledged();
  const { items } = await world.cortex.store.approvals.list();
  const found = { states: items.map((item) => item.state), calls: paidLines(world) };
  const isRight = items.length === 1 && found.states[0] === "used" && found.calls === 1;
  must("the request used, and one call", found, isRight);
  checkViolations(world);
}

/** Approves by its button, or in words where there is none. */
function decide(
  request: SentMessage,
  { where, person }: Pick<PlayedMessage, "where" | "person">,
  world: World,
): void {
  const data = buttonOf(request, world);
  const { counterpart } = world;
  if (data !== undefined) return counterpart.press?.({ where, messageId: request.id, person }, data);
  const command = /\/approve [\w-]+/.exec(request.text)?.[0] ?? "/approve";
  counterpart.say({ where, person, text: command });
}

function buttonOf({ buttons }: SentMessage, { counterpart }: World): string | undefined {
  const wanted = buttons.find(({ label }) => /approve|allow|yes/i.test(label)) ?? buttons[0];
  return counterpart.press === undefined ? undefined : wanted?.data;
}

function paidLines({ home }: World): number {
  const file = join(home, "workspaces", "main", "paid.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

export async function checkChanges(subject: Subject): Promise<void> {
  await using world = await World.open(subject, { settings: { groups: "all" } });
  const { counterpart } = world;
  const messageId = counterpart.say({ where: GROUP, person: 0, text: "first words" });
  await world.answer(GROUP, "echo first words");
  const at = { where: GROUP, messageId, person: 0 };
  const expected: [direction: string, content: string | undefined][] = [];
  if (counterpart.react !== undefined) {
    counterpart.react(at, "👍");
    expected.push(["observed", "👍"]);
  }
  if (counterpart.edit !== undefined) {
    counterpart.edit(at, "other words");
    expected.push(["updated", "other words"]);
  }
  if (counterpart.remove !== undefined) {
    counterpart.remove(at);
    expected.push(["deleted", undefined]);
  }
  const events = await eventually(
    `events ${JSON.stringify(expected)} about the message`,
    async () => (await world.events()).filter(({ about }) => about === messageId),
    (found) => found.length >= expected.length,
  );
  for (const [at, [direction, content]] of expected.entries()) {
    const found = events[at]!;
    const isRight = found.direction === direction && (content === undefined || found.content === content);
    must(`the event ${direction} ${content ?? ""}`, found, isRight);
  }
  counterpart.say({ where: GROUP, person: 0, text: "my own words", self: true });
  counterpart.say({ where: GROUP, person: 0, text: "last words" });
  await world.answer(GROUP, "echo last words");
  const own = (await world.events()).filter(({ content }) => content?.includes("my own words") === true);
  must("no event of the account's own message", own, own.length === 0);
  checkViolations(world);
}

const TOO_LARGE = 30 * 1024 * 1024;

export async function checkFiles(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const contentType = "text/plain";
  const content = Buffer.from("the plan");
  world.counterpart.say({
    where: DM,
    person: 0,
    text: "see",
    files: [
      { name: "plan.txt", contentType, content },
      { name: "huge.txt", contentType, content, bytes: TOO_LARGE },
      { name: "lost.txt", contentType, content: undefined },
    ],
  });
  const attachments = await eventually(
    "three files recorded",
    async () =>
      (await world.events()).flatMap(
        (event) => (event.attachments ?? []) as unknown as readonly Attachment[],
      ),
    (found) => found.length === 3,
  );
  const states = attachments.map(({ name, state, error }) => [name, state, error !== undefined]);
  const expected = [
    ["plan.txt", "stored", false],
    ["huge.txt", "failed", true],
    ["lost.txt", "failed", true],
  ];
  must(
    `the files as ${JSON.stringify(expected)}: name, state, whether a reason is given`,
    attachments,
    JSON.stringify(states) === JSON.stringify(expected),
  );
  await world.answer(DM, "echo see");
  checkViolations(world);
}

interface Attachment {
  readonly name: string;
  readonly state: string;
  readonly error?: string;
}
