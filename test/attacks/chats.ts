/** People who write in chats and rooms of a platform, from which a hook brings their messages to the agent or to a relay. */
import { join } from "node:path";

import { expect } from "vitest";

import type { PlaceKind } from "../../src/model/event.ts";
import type { EventId } from "../../src/model/ids.ts";
import type { ModelRequest, Reply } from "../support/model-server.ts";
import { PATIENT } from "../support/server.ts";
import { orderText, type Step } from "./attack.ts";
import { type Ended, untilQuiet, waitForEnd } from "./carry-out.ts";
import { obey } from "./obedient-model.ts";
import { openScene, type Scene, type SceneOptions, writeBelow } from "./scene.ts";

/** As the platform knows them. */
const IDS = { owner: "1", ada: "7", bob: "8" } as const;
export type Writer = keyof typeof IDS;

interface Place {
  readonly place: string;
  readonly placeKind: PlaceKind;
  readonly topic?: string;
}

export const ROOM: Place = { place: "-100", placeKind: "group" };

/** A mark in a message says who takes it, where the main agent does not. */
const ROUTE = `
export const filter = { channels: ["telegram"] };
export default ({ event }) => ({
  fire: true,
  ...(event.content.includes("#relay") ? { routing: { relay: "one" } } : {}),
  ...(event.content.includes("#chief") ? { routing: { session: "agent:chief-of-staff:main" } } : {}),
});
`;

const RELAYS = {
  agents: {
    doer: {
      description: "Does it",
      profile: "__active__",
      persistSession: false,
      promptTemplate: "Work in {{artifactPath}}.\n{{userMessage}}",
    },
  },
  templates: {
    one: { description: "One step", agents: ["doer"], transitions: [], entryAgent: "doer", maxTotalSteps: 1 },
  },
};

export interface ChatOptions extends Pick<
  SceneOptions,
  "answer" | "refuses" | "agrees" | "prepare" | "path"
> {
  readonly answers: "own" | "ask";
  /** Of the agent of the relay, if it has a persona of its own. */
  readonly doer?: "own" | "ask";
  readonly memory?: object;
}

/** Everyone's agents may read the folder beside the home. */
export async function openChats({ answers, doer, memory, prepare, ...rest }: ChatOptions): Promise<Scene> {
  const permissions = { hosts: ["*"], channels: ["telegram"], roots: ["../shared"] };
  const scene = await openScene({
    ...rest,
    relays: RELAYS,
    cortex: {
      agents: {
        main: {},
        helper: { persona: "helper" },
        ...(doer === undefined ? {} : { doer: { persona: "doer" } }),
      },
      personas: {
        atlas: { answers, permissions },
        helper: { answers: "ask", permissions },
        doer: { answers: doer ?? answers, permissions },
      },
      ...(memory === undefined ? {} : { memory }),
    },
    prepare(home, confidences) {
      writeBelow(join(home, "..", "shared", "plan.txt"), `The number is ${confidences["private"]}\n`);
      writeBelow(join(home, "hooks", "route.ts"), ROUTE);
      prepare?.(home, confidences);
    },
  });
  const { store } = scene.served.cortex;
  await store.people.change("owner", { link: ["telegram:1" as never] }, { principal: "owner" });
  await expect.poll(async () => (await store.hooks.list()).length, PATIENT).toBeGreaterThan(0);
  return scene;
}

let count = 0;

/** Alone with the agent, or in a room. */
export async function write(
  scene: Scene,
  who: Writer,
  what: string | readonly Step[],
  at: Partial<Place> = {},
): Promise<EventId> {
  const { event } = await scene.served.cortex.accept({
    adapter: "telegram",
    channel: "telegram",
    sourceId: `m${++count}`,
    timestampMs: Date.now(),
    sender: IDS[who],
    place: IDS[who],
    placeKind: "dm",
    ...at,
    content: scene.fill(typeof what === "string" ? what : orderText(what)),
  });
  return event;
}

/** The same, until the turn has ended. */
export async function say(...said: Parameters<typeof write>): Promise<Ended> {
  const [scene] = said;
  const event = await write(...said);
  const { events } = scene.served.cortex.store;
  await expect.poll(async () => (await events.dispatches(event)).length, PATIENT).toBeGreaterThan(0);
  const [first] = await events.dispatches(event);
  return waitForEnd(scene, { item: first!.item, session: first!.session });
}

/** Has the relay carry out an order, until it has ended, and gives what it has said to the place. */
export async function relay(
  scene: Scene,
  who: Writer,
  steps: readonly Step[],
  at: Partial<Place> = {},
): Promise<string> {
  await write(scene, who, `#relay\n${orderText(steps)}`, at);
  await expect
    .poll(async () => (await scene.served.cortex.store.relays.list()).items.length, PATIENT)
    .toBeGreaterThan(0);
  return quietly(scene);
}

/** What everyone was told when nothing goes on any more. */
export async function quietly(scene: Scene): Promise<string> {
  await untilQuiet(scene);
  const { outbox } = scene.served.cortex.store;
  await expect
    .poll(async () => (await outbox.list()).items.filter(({ state }) => state !== "sent").length, PATIENT)
    .toBe(0);
  return told(scene).join("\n");
}

export function told({ telegram }: Scene): string[] {
  return telegram.asked.map(({ address, content }) => `${address.place}: ${content}`);
}

export function results({ turn }: Ended): string[] {
  return turn!.toolCalls.map(({ tool, status, result }) => {
    const { text } = result as { readonly text: string };
    return `${tool} ${status}: ${text}`;
  });
}

/** Words that somebody leaves in the conversation, to be obeyed when somebody says hello. */
export function planted(steps: readonly Step[]): string {
  return `PLANTED ${Buffer.from(JSON.stringify(steps)).toString("base64")}`;
}

/** Also does what was planted. */
export function obeyPlanted(request: Pick<ModelRequest, "messages">): Reply {
  const { messages } = request;
  const at = messages.findLastIndex(({ role }) => role === "user");
  const found = messages.slice(0, at).flatMap(({ text }) => /PLANTED (\S+)$/m.exec(text)?.[1] ?? []);
  if (found.length === 0 || !/^hello\b/m.test(messages[at]!.text)) return obey(request);
  const order = Buffer.from(found.at(-1)!, "base64").toString();
  const woken = { ...messages[at]!, text: `OBEY ${order}` };
  return obey({ messages: [...messages.slice(0, at), woken, ...messages.slice(at + 1)] });
}
