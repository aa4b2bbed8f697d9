/** Carries out crossings, and says what is wrong with what became of them. */
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { Json } from "../../src/model/json.ts";
import { normalizeSessionKey, type SessionKey } from "../../src/model/session-key.ts";
import { canonicalToolName } from "../../src/model/tool-aliases.ts";
import { type Approval, MAX_PAGE } from "../../src/store/store.ts";
import { PATIENT } from "../support/server.ts";
import { type Order, orderText } from "./attack.ts";
import { canariesIn } from "./canary.ts";
import { enter, forbiddenEffects, textOf, untilQuiet, waitForEnd } from "./carry-out.ts";
import type { Crossing, CrossingFamily, Move, Said } from "./crossing.ts";
import { openScene, type Scene, SENDERS, writeBelow } from "./scene.ts";

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

export async function carryAcross({
  crossings,
  team,
  limits = {},
  scene: options = {},
}: CrossingFamily): Promise<string[]> {
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
      agents: Object.fromEntries(["main", ...agents].map((agent) => [agent, { limits }])),
      ...options.cortex,
    },
    prepare(home, confidences) {
      for (const agent of agents) {
        const folder = join(home, "workspaces", agent);
        writeBelow(join(folder, "private.txt"), `The number of ${agent} is ${confidences["private"]}\n`);
        writeBelow(join(folder, "diary.md"), `It was the day of ${agent}. It rained.\n`);
      }
      if (team === true) foundTeam(home, running);
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
    case "tasked": {
      const text = fillFor(orderText(move.steps), running, scene);
      appendFileSync(tasksOf(scene.home, running), `\n## By hand\n**Status:** ready\n\n${text}\n`);
      return;
    }
    case "ticked": {
      const events = () => cortex.store.events.list({ channel: "team", limit: MAX_PAGE });
      const before = (await events()).items.length;
      await (await cortex.team.open()).tick(running.agent);
      if (move.isOptional !== true)
        await expect.poll(async () => (await events()).items.length, PATIENT).toBeGreaterThan(before);
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

/** A coordinator, whom people talk to, and the agents of the crossings as members. */
function foundTeam(home: string, running: readonly Running[]): void {
  const root = join(home, "team");
  writeBelow(join(home, "config.yaml"), `team_dir: ${root}\n`);
  const slugs = ["chief-of-staff", ...running.map(({ agent }) => agent)];
  for (const slug of slugs) {
    const project = join(home, "workspaces", slug);
    mkdirSync(project, { recursive: true });
    const facts = `name: ${slug}\nproject: ${project}\nstatus: active\nruntime: cortex\n`;
    const log = "## Session Log\nLast session: --\nStatus: registered\n";
    writeBelow(join(root, "agents", slug, `${slug}.md`), `---\n${facts}---\n\n## Role\nDo it.\n\n${log}`);
    writeBelow(join(root, "agents", slug, "tasks.md"), "");
  }
}

function tasksOf(home: string, { agent }: Running): string {
  return join(home, "team", "agents", agent, "tasks.md");
}

function keyOf(session: string, { agent }: Running): SessionKey {
  return normalizeSessionKey(session.startsWith("agent:") ? session : `${agent}-${session}`);
}

let sayings = 0;

async function say(move: Said, running: Running, scene: Scene): Promise<void> {
  const { problems, tag } = running;
  const agent = move.helper === true ? running.helper : running.agent;
  const text = fillFor(move.text ?? orderText(move.steps), running, scene);
  const mark = `${tag}-${++sayings}-`;
  const { content, from } = enter(move.by, text, mark, agent, scene);
  const { place, placeKind, delivery } = move;
  const session = keyOf(move.session.replace("{{agent}}", agent), running);
  const to = { session, agent, place, placeKind, delivery };
  const earlier = scene.model.requests.length;
  const ended = await waitForEnd(scene, await scene.send(`(${mark})\n${content}`, from, to));
  problems.push(
    ...shownTo(mark, move, scene.model.requests.slice(earlier), scene).map(
      (name) => `the model was shown ${name} for ${move.by}`,
    ),
  );
  const calls = ended.turn?.toolCalls ?? [];
  const shown = calls.map(({ tool, status, ...each }) => `${tool} ${status} ${textOf(each).slice(0, 300)}`);
  const problem = wrongWith(move, { calls, asked: ended.asked, isTurn: ended.turn !== undefined });
  if (problem !== undefined)
    problems.push(
      `${move.by} in ${move.session}: ${problem}: ${shown.join(" | ") || JSON.stringify(ended.outcome)}`,
    );
}

/** The confidences that the model was shown in a turn, though they are none of whoever asked. */
function shownTo(
  mark: string,
  { unseen = [] }: Said,
  requests: Scene["model"]["requests"],
  { confidences }: Scene,
): string[] {
  if (unseen.length === 0) return [];
  const secrets = Object.fromEntries(unseen.map((name) => [name, confidences[name]!]));
  const bodies = requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes(mark));
  return [...new Set(bodies.flatMap((body) => canariesIn(body, secrets)))];
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
  const { tool = "", args = null } = request as { tool?: string; args?: Json };
  const isOwn =
    session.startsWith(`${agent}-`) ||
    session.includes(`:${agent}:`) ||
    JSON.stringify(request).includes(tag);
  const isMeant = (wanted: string): boolean => {
    const [name, part = ""] = wanted.split(" ");
    return name === tool && JSON.stringify(args).includes(part);
  };
  return isOwn && crossing.agrees?.some(isMeant) === true;
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
    canariesIn(`${JSON.stringify(address)} ${content}`, { ...scene.secrets, ...scene.confidences })
      .filter((name) => name !== "ada" || address.place !== SENDERS.paired.sender)
      .map((name) => `${name} was told to ${address.place}: ${content.slice(0, 200)}`),
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
