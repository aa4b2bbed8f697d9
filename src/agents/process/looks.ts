/** The checks, one function each: what is sent, and what must follow. */
import { randomUUID } from "node:crypto";
import { setImmediate as soon, setTimeout as after } from "node:timers/promises";

import {
  runTask,
  atWork,
  type Examination,
  type CheckFinding,
  exampleInit,
  notHeard,
  PLAIN_TASK,
  probing,
  describeLine,
} from "./examine.ts";
import type { Probe } from "./probe.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";

export async function lookReady(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "ready", async (probe) => {
    probe.send(exampleInit(PLAIN_TASK));
    const ready = await probe.hear(["ready"], examination.limits.readyMs);
    const [first] = probe.lines;
    if (first !== undefined && first !== ready) return { failed: `it sent ${describeLine(first)} first` };
    if (typeof ready === "string") return { failed: notHeard("ready", ready, probe) };
    const { version = 1 } = ready.message;
    if (version !== 1 && version !== PROTOCOL_VERSION)
      return { failed: `its version is ${JSON.stringify(version)}, expected 1 or ${PROTOCOL_VERSION}` };
    examination.seen.version = version;
    return undefined;
  });
}

export async function lookDone(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "done", async (probe) => {
    const done = await runTask(probe, examination);
    if ("failed" in done) return done;
    const wrong = wrongFields(done.result);
    if (wrong.length > 0) return { failed: `its result has ${wrong.join(", ")}` };
    probe.closeInput();
    if (await probe.endsWithin(examination.limits.endMs)) return undefined;
    return { failed: "it kept running after done and the end of its input" };
  });
}

/** The invalid fields of the result of `done`, in words. */
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

export async function lookChunks(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "chunks", async (probe) => {
    const done = await runTask(probe, examination);
    if ("failed" in done) return done;
    probe.closeInput();
    await probe.hearOut(examination.limits.endMs);
    const messages = probe.lines.filter((line) => line.kind === "message");
    const chunks = messages.filter(({ type }) => type === "chunk");
    const wrong = chunks.find(({ message }) => typeof message["delta"] !== "string");
    if (wrong !== undefined) return { failed: `a delta that is not a string: ${describeLine(wrong)}` };
    const [late] = messages.slice(messages.findIndex(({ type }) => type === "done") + 1);
    if (late !== undefined) return { failed: `it sent ${describeLine(late)} after done` };
    return chunks.length > 0 ? undefined : { skipped: "it sends none: output appears only at the end" };
  });
}

const FIRST_PIECE_BYTES = 10;
const PIECE_BYTES = 4_096;
/** Long enough to catch a program that reads once and assumes it has everything. */
const PIECE_PAUSE_MS = 50;
/** More than the buffer of a pipe. */
const PIECES_BYTES = 100_000;

export async function lookPieces(examination: Examination): Promise<CheckFinding> {
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
    const done = await runTask(probe, examination, { send });
    return "failed" in done ? done : undefined;
  });
}

export const LARGE_BYTES = 10_000_000;

export async function lookLarge(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "large", async (probe) => {
    const padding = "x".repeat(LARGE_BYTES);
    const done = await runTask(probe, examination, { send: (init) => probe.send({ ...init, padding }) });
    return "failed" in done ? done : undefined;
  });
}

export async function lookUnknown(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "unknown", async (probe) => {
    const send = (init: Init): void => {
      probe.send({ type: "weather", wind: { knots: 12 } });
      probe.send({ ...init, weather: ["rain"], config: { ...init.config, weather: null } });
      probe.send({ type: "weather" });
    };
    const done = await runTask(probe, examination, { send });
    return "failed" in done ? done : undefined;
  });
}

export async function lookPing(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "ping", async (probe) => {
    const pinged = async (): Promise<string | undefined> => {
      probe.send({ type: "ping" });
      const pong = await probe.hear(["pong"], examination.limits.endMs);
      return typeof pong === "string" ? notHeard("pong", pong, probe) : undefined;
    };
    const done = await runTask(probe, examination, { withTool: true, beforeResult: pinged });
    if ("failed" in done) return done;
    return done.calls === 0 ? { skipped: NO_CALL } : undefined;
  });
}

export async function lookTools(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "tools", async (probe) => {
    const secret = randomUUID();
    const done = await runTask(probe, examination, { withTool: true, toolResult: secret });
    if ("failed" in done) return done;
    if (done.calls === 0) return { skipped: NO_CALL };
    const { response } = done.result;
    if (typeof response === "string" && response.includes(secret)) return undefined;
    return { failed: `the tool returned ${secret}, but the answer was ${JSON.stringify(response)}` };
  });
}

export async function lookMessage(examination: Examination): Promise<CheckFinding> {
  return probing(examination, "message", async (probe) => {
    const sendMessage = async (): Promise<undefined> => {
      probe.send({ type: "message", content: "Thank you. Go on with what you are doing." });
    };
    const done = await runTask(probe, examination, { withTool: true, beforeResult: sendMessage });
    if ("failed" in done) return done;
    return done.calls === 0 ? { skipped: NO_CALL } : undefined;
  });
}

const NO_CALL = "it called no tool";

export async function lookCancel(examination: Examination): Promise<CheckFinding> {
  return atWork(examination, "cancel", async (probe) => {
    probe.send({ type: "cancel" });
    const end = await probe.hear(["done", "error"], examination.limits.endMs);
    return end === "late" || end === "cut" ? { failed: "it keeps working" } : undefined;
  });
}

export async function lookInput(examination: Examination): Promise<CheckFinding> {
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

export async function lookSigterm(examination: Examination): Promise<CheckFinding> {
  return atWork(examination, "SIGTERM", async (probe) => {
    probe.signal("SIGTERM");
    return endsInTime(probe, examination);
  });
}

async function endsInTime(probe: Probe, { limits }: Examination): Promise<CheckFinding> {
  return (await probe.endsWithin(limits.endMs)) ? undefined : { failed: "it keeps running" };
}

export async function lookOutput({ seen }: Examination): Promise<CheckFinding> {
  const wrong = seen.lines.find((line) => line.kind === "garbage" || typeof line.type !== "string");
  return wrong === undefined ? undefined : { failed: `it sent ${describeLine(wrong)}` };
}

export async function lookProcesses({ seen }: Examination): Promise<CheckFinding> {
  if (seen.leftovers.length === 0) return undefined;
  return { failed: `some of its processes outlived it: ${seen.leftovers.join(", ")}` };
}
