/** The checks, one function each: what is told, and what must come of it. */
import { randomUUID } from "node:crypto";
import { setImmediate as soon, setTimeout as after } from "node:timers/promises";

import {
  answerOf,
  atWork,
  type Examination,
  type Finding,
  initOf,
  missing,
  PLAIN_TASK,
  probing,
  show,
} from "./examine.ts";
import type { Probe } from "./probe.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";

export async function lookReady(examination: Examination): Promise<Finding> {
  return probing(examination, "ready", async (probe) => {
    probe.tell(initOf(PLAIN_TASK));
    const ready = await probe.hear(["ready"], examination.limits.readyMs);
    const [first] = probe.said;
    if (first !== undefined && first !== ready) return { failed: `it said ${show(first)} first` };
    if (typeof ready === "string") return { failed: missing("ready", ready, probe) };
    const { version = 1 } = ready.message;
    if (version !== 1 && version !== PROTOCOL_VERSION)
      return { failed: `its version is ${JSON.stringify(version)}, and not 1 or ${PROTOCOL_VERSION}` };
    examination.seen.version = version;
    return undefined;
  });
}

export async function lookDone(examination: Examination): Promise<Finding> {
  return probing(examination, "done", async (probe) => {
    const done = await answerOf(probe, examination);
    if ("failed" in done) return done;
    const wrong = wrongFields(done.result);
    if (wrong.length > 0) return { failed: `its result has ${wrong.join(", ")}` };
    probe.closeInput();
    if (await probe.endsWithin(examination.limits.endMs)) return undefined;
    return { failed: "it went on after done, and after the end of its input" };
  });
}

/** Those of the result of `done` that are not as they must be, in words. */
function wrongFields(result: Readonly<Record<string, unknown>>): string[] {
  const right: Readonly<Record<string, (value: unknown) => boolean>> = {
    success: (value) => typeof value === "boolean",
    response: (value) => typeof value === "string" && value.trim() !== "",
    tokensIn: isCount,
    tokensOut: isCount,
    costUsd: (value) => value === null || isCount(value),
    durationMs: isCount,
  };
  return Object.entries(right)
    .filter(([name, isRight]) => !isRight(result[name]))
    .map(([name]) => (name in result ? `${name} ${JSON.stringify(result[name])}` : `no ${name}`));
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

export async function lookChunks(examination: Examination): Promise<Finding> {
  return probing(examination, "chunks", async (probe) => {
    const done = await answerOf(probe, examination);
    if ("failed" in done) return done;
    probe.closeInput();
    await probe.hearOut(examination.limits.endMs);
    const messages = probe.said.filter((said) => said.kind === "message");
    const chunks = messages.filter(({ type }) => type === "chunk");
    const wrong = chunks.find(({ message }) => typeof message["delta"] !== "string");
    if (wrong !== undefined) return { failed: `a delta that is no text: ${show(wrong)}` };
    const late = messages.slice(messages.findIndex(({ type }) => type === "done") + 1);
    if (late.length > 0) return { failed: `it said ${show(late[0]!)} after done` };
    return chunks.length > 0
      ? undefined
      : { skipped: "it sends none: whoever watches sees nothing before the end" };
  });
}

const FIRST_PIECE_BYTES = 10;
const PIECE_BYTES = 4_096;
/** Longer than a program takes that reads once and believes that it has everything. */
const PIECE_PAUSE_MS = 50;
/** More than a pipe holds. */
const PIECES_BYTES = 100_000;

export async function lookPieces(examination: Examination): Promise<Finding> {
  return probing(examination, "pieces", async (probe) => {
    const send = async (init: Init): Promise<void> => {
      const line = Buffer.from(`${JSON.stringify({ ...init, padding: "€".repeat(PIECES_BYTES / 3) })}\n`);
      probe.write(line.subarray(0, FIRST_PIECE_BYTES));
      await after(PIECE_PAUSE_MS);
      for (let from = FIRST_PIECE_BYTES; from < line.length; from += PIECE_BYTES) {
        probe.write(line.subarray(from, from + PIECE_BYTES));
        await soon();
      }
    };
    const done = await answerOf(probe, examination, { send });
    return "failed" in done ? done : undefined;
  });
}

export const LARGE_BYTES = 10_000_000;

export async function lookLarge(examination: Examination): Promise<Finding> {
  return probing(examination, "large", async (probe) => {
    const padding = "x".repeat(LARGE_BYTES);
    const done = await answerOf(probe, examination, { send: (init) => probe.tell({ ...init, padding }) });
    return "failed" in done ? done : undefined;
  });
}

export async function lookUnknown(examination: Examination): Promise<Finding> {
  return probing(examination, "unknown", async (probe) => {
    const send = (init: Init): void => {
      probe.tell({ type: "weather", wind: { knots: 12 } });
      probe.tell({ ...init, weather: ["rain"], config: { ...init.config, weather: null } });
      probe.tell({ type: "weather" });
    };
    const done = await answerOf(probe, examination, { send });
    return "failed" in done ? done : undefined;
  });
}

export async function lookPing(examination: Examination): Promise<Finding> {
  return probing(examination, "ping", async (probe) => {
    const pinged = async (): Promise<string | undefined> => {
      probe.tell({ type: "ping" });
      const pong = await probe.hear(["pong"], examination.limits.endMs);
      return typeof pong === "string" ? missing("pong", pong, probe) : undefined;
    };
    const done = await answerOf(probe, examination, { withTool: true, beforeResult: pinged });
    if ("failed" in done) return done;
    return done.asked === 0 ? { skipped: ASKED_FOR_NONE } : undefined;
  });
}

export async function lookTools(examination: Examination): Promise<Finding> {
  return probing(examination, "tools", async (probe) => {
    const secret = randomUUID();
    const done = await answerOf(probe, examination, { withTool: true, give: secret });
    if ("failed" in done) return done;
    if (done.asked === 0) return { skipped: ASKED_FOR_NONE };
    const { response } = done.result;
    if (typeof response === "string" && response.includes(secret)) return undefined;
    return { failed: `the tool gave ${secret}, and the answer was ${JSON.stringify(response)}` };
  });
}

export async function lookMessage(examination: Examination): Promise<Finding> {
  return probing(examination, "message", async (probe) => {
    const say = async (): Promise<undefined> => {
      probe.tell({ type: "message", content: "Thank you. Go on with what you are doing." });
    };
    const done = await answerOf(probe, examination, { withTool: true, beforeResult: say });
    if ("failed" in done) return done;
    return done.asked === 0 ? { skipped: ASKED_FOR_NONE } : undefined;
  });
}

const ASKED_FOR_NONE = "it asked for no tool";

export async function lookCancel(examination: Examination): Promise<Finding> {
  return atWork(examination, "cancel", async (probe) => {
    probe.tell({ type: "cancel" });
    const end = await probe.hear(["done", "error"], examination.limits.endMs);
    return end === "late" || end === "cut" ? { failed: "it goes on" } : undefined;
  });
}

export async function lookInput(examination: Examination): Promise<Finding> {
  const finding = await atWork(examination, "the end of its input", async (probe) => {
    probe.closeInput();
    return endsInTime(probe, examination);
  });
  if (finding !== undefined) return finding;
  return probing(examination, "the end of its input", async (probe) => {
    probe.closeInput();
    return endsInTime(probe, examination);
  });
}

export async function lookSigterm(examination: Examination): Promise<Finding> {
  return atWork(examination, "SIGTERM", async (probe) => {
    probe.signal("SIGTERM");
    return endsInTime(probe, examination);
  });
}

async function endsInTime(probe: Probe, { limits }: Examination): Promise<Finding> {
  return (await probe.endsWithin(limits.endMs)) ? undefined : { failed: "it stays" };
}

export async function lookOutput({ seen }: Examination): Promise<Finding> {
  const wrong = seen.said.find((said) => said.kind === "garbage" || typeof said.type !== "string");
  return wrong === undefined ? undefined : { failed: `it said ${show(wrong)}` };
}

export async function lookProcesses({ seen }: Examination): Promise<Finding> {
  if (seen.stayed.length === 0) return undefined;
  return { failed: `some of its processes were there after it had ended: ${seen.stayed.join(", ")}` };
}
