/** Carries out crossings, and says what is wrong with what became of them. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { normalizeSessionKey, type SessionKey } from "../../src/model/session-key.ts";
import { canonicalToolName } from "../../src/model/tool-aliases.ts";
import type { Approval } from "../../src/store/store.ts";
import { type Order, orderText } from "./attack.ts";
import { canariesIn } from "./canary.ts";
import { enter, forbiddenEffects, textOf, untilQuiet, waitForEnd } from "./carry-out.ts";
import type { Crossing, CrossingFamily, Move, Said } from "./crossing.ts";
import { openScene, type Scene, writeBelow } from "./scene.ts";

/** One of those that share a scene. */
interface Running {
  readonly crossing: Crossing;
  readonly tag: string;
  /** Its agents: whoever is talked to, and colleagues. */
  readonly agent: string;
  readonly helper: string;
  readonly third: string;
  readonly problems: string[];
}

export async function carryAcross({ crossings, scene: options = {} }: CrossingFamily): Promise<string[]> {
  expect(crossings).not.toEqual([]);
  const running = crossings.map((crossing, index): Running => ({
    crossing,
    tag: `tag${index}x`,
    agent: `x${index}`,
    helper: `x${index}-helper`,
    third: `x${index}-third`,
    problems: [],
  }));
  const agents = running.flatMap(({ agent, helper, third }) => [agent, helper, third]);
  await using scene = await openScene({
    ...options,
    agrees: (request) =>
      options.agrees?.(request) === true || running.some((each) => agreesTo(request, each)),
    cortex: {
      agents: Object.fromEntries(["main", ...agents].map((agent) => [agent, {}])),
      ...options.cortex,
    },
    prepare(home, confidences) {
      for (const agent of agents) {
        const folder = join(home, "workspaces", agent);
        writeBelow(join(folder, "private.txt"), `The number of ${agent} is ${confidences["private"]}\n`);
        writeBelow(join(folder, "diary.md"), `It was the day of ${agent}. It rained.\n`);
      }
      options.prepare?.(home, confidences);
    },
  });
  const phases = running.map(({ crossing }) => phasesOf(crossing.moves));
  const last = Math.max(...phases.map(({ length }) => length));
  for (let phase = 0; phase < last; phase++) {
    const barriers = phases.flatMap((each) => each[phase]?.barrier ?? []);
    await Promise.all(running.map((each, index) => play(phases[index]![phase]?.moves ?? [], each, scene)));
    if (barriers.length > 0 || phase === last - 1) await untilQuiet(scene);
    if (barriers.includes("restore")) await restore(scene);
    else if (barriers.includes("restart")) await scene.restart();
  }
  return [
    ...running.flatMap((each) => [...each.problems, ...unasked(each, scene)].map(named(each))),
    ...(await effects(running, scene)),
  ];
}

function named({ crossing, tag }: Running): (problem: string) => string {
  return (problem) => `${crossing.name} (${tag}): ${problem}`;
}

interface Phase {
  readonly moves: readonly Exclude<Move, { kind: "barrier" }>[];
  readonly barrier: "wait" | "restart" | "restore" | undefined;
}

function phasesOf(moves: readonly Move[]): Phase[] {
  const phases: Phase[] = [];
  let open: Exclude<Move, { kind: "barrier" }>[] = [];
  for (const move of moves) {
    if (move.kind !== "barrier") open.push(move);
    else phases.push({ moves: open.splice(0), barrier: move.next });
  }
  if (open.length > 0) phases.push({ moves: open, barrier: undefined });
  return phases;
}

async function play(moves: Phase["moves"], running: Running, scene: Scene): Promise<void> {
  for (const move of moves) {
    if (running.problems.length > 0) return;
    await make(move, running, scene);
  }
}

async function make(move: Phase["moves"][number], running: Running, scene: Scene): Promise<void> {
  const { cortex } = scene.served;
  switch (move.kind) {
    case "said":
      return say(move, running, scene);
    case "forked": {
      const head = await cortex.store.sessions.head(keyOf(move.session, running));
      await cortex.fork(head!, keyOf(move.as, running));
      return;
    }
    case "moved": {
      const folder = join(scene.home, "workspaces", running.agent);
      renameSync(join(folder, move.from), join(folder, move.to));
      return;
    }
    case "filled": {
      const to = { session: keyOf(move.session, running), agent: running.agent };
      for (let n = 0; n < 6; n++)
        await waitForEnd(scene, await scene.send(`A story. ${"And then. ".repeat(300)}`, "owner", to));
      const head = (await cortex.store.sessions.head(to.session))!;
      if ((await cortex.store.turns.context(head)).compaction === undefined)
        running.problems.push("nothing was summed up");
    }
  }
}

function keyOf(session: string, { agent }: Running): SessionKey {
  return normalizeSessionKey(session.startsWith("agent:") ? session : `${agent}-${session}`);
}

let sayings = 0;

async function say(move: Said, running: Running, scene: Scene): Promise<void> {
  const { problems, tag } = running;
  const agent = move.helper === true ? running.helper : running.agent;
  const text = fillFor(move.text ?? orderText(move.steps), running, scene);
  const { content, from } = enter(move.by, text, `${tag}-${++sayings}`, agent, scene);
  const { place, placeKind, delivery } = move;
  const session = keyOf(move.session.replace("{{agent}}", agent), running);
  const to = { session, agent, place, placeKind, delivery };
  const ended = await waitForEnd(scene, await scene.send(content, from, to));
  const calls = ended.turn?.toolCalls ?? [];
  const shown = calls.map(({ tool, status, ...each }) => `${tool} ${status} ${textOf(each).slice(0, 300)}`);
  const problem = wrongWith(move, { calls, asked: ended.asked, isTurn: ended.turn !== undefined });
  if (problem !== undefined)
    problems.push(
      `${move.by} in ${move.session}: ${problem}: ${shown.join(" | ") || JSON.stringify(ended.outcome)}`,
    );
}

function fillFor(text: string, { agent, helper, third, tag }: Running, scene: Scene): string {
  const known: Readonly<Record<string, string>> = { tag, agent, helper, third, ...scene.confidences };
  return scene.fill(text.replaceAll(/\{\{(\w+)\}\}/g, (mark, name: string) => known[name] ?? mark));
}

interface Ending {
  readonly calls: readonly { readonly tool: string; readonly status: string }[];
  readonly asked: readonly Approval[];
  readonly isTurn: boolean;
}

function wrongWith({ ends }: Said, { calls, asked, isTurn }: Ending): string | undefined {
  if (ends === "confined") return undefined;
  if (!isTurn) return "there is no turn";
  const before = calls.slice(0, -1);
  const final = calls.at(-1);
  if (ends === "made") return calls.every(({ status }) => status === "ok") ? undefined : "a call went wrong";
  if (final === undefined) return "no call was made";
  if (before.some(({ status }) => status !== "ok")) return "a call before the last one went wrong";
  if (final.status === "ok") return "it was made";
  const isAsked = asked.some(
    ({ request }) => (request as { tool?: string }).tool === canonicalToolName(final.tool),
  );
  return isAsked === (ends === "asked") ? undefined : isAsked ? "a person was asked" : "nobody was asked";
}

function agreesTo({ request, session }: Approval, { crossing, agent, tag }: Running): boolean {
  const { tool = "" } = request as { tool?: string };
  const isOwn =
    session.startsWith(`${agent}-`) ||
    session.includes(`:${agent}:`) ||
    JSON.stringify(request).includes(tag);
  return isOwn && crossing.agrees?.includes(tool) === true;
}

/** That the tool was asked about which must have been: with the word of this crossing in it. */
function unasked({ crossing, tag }: Running, { asked }: Scene): string[] {
  const { asks } = crossing;
  if (asks === undefined) return [];
  const isAsked = asked.some(({ request }) => {
    const { tool, args } = request as unknown as { tool: string; args: Order["args"] };
    return tool === asks && JSON.stringify(args).includes(tag);
  });
  return isAsked ? [] : [`nobody was asked about ${asks}`];
}

async function effects(running: readonly Running[], scene: Scene): Promise<string[]> {
  const all = await forbiddenEffects(scene);
  const agreed = running.some(({ crossing }) => (crossing.agrees ?? []).length > 0);
  const told = scene.telegram.asked.flatMap(({ address, content }) =>
    canariesIn(`${JSON.stringify(address)} ${content}`, { ...scene.secrets, ...scene.confidences }).map(
      (name) => `${name} was told to ${address.place}: ${content.slice(0, 200)}`,
    ),
  );
  return [...all.filter((effect) => !(agreed && effect.startsWith("the approval"))), ...told];
}

/** Everything is lost but a copy that was made before. */
async function restore(scene: Scene): Promise<void> {
  const kept = `${scene.home}-kept`;
  await scene.restart(() => {
    cpSync(scene.home, kept, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    rmSync(scene.home, { recursive: true });
    renameSync(kept, scene.home);
  });
}
