/** `cortex doctor`: problems of a home and its machine, and their fixes; `--fix` applies them. */
import {
  applyChange,
  type Change,
  type Check,
  describeChange,
  type Diagnosis,
  diagnosisView,
  examine,
} from "./doctor.ts";
import { ask } from "../client/ask.ts";
import { type Invocation, REFUSES_TO_START } from "../feature/command.ts";
import { findServer, urlOf } from "../client/server.ts";
import type { Feature } from "../feature/feature.ts";
import { count, harmless, table } from "../terminal/text.ts";
import { readVersion } from "../config/version.ts";

/** False: a check failed. REFUSES_TO_START: `cortex up` would refuse to start. */
export async function doctor(
  given: Invocation,
  features: readonly Feature[],
): Promise<void | false | typeof REFUSES_TO_START> {
  const { options, print } = given;
  const before = await look(given, features);
  const fixed = options["fix"] === true ? await fix(before) : undefined;
  const diagnosis = fixed === undefined || fixed.length === 0 ? before : await look(given, features);
  const diffs = fixed?.map(describeChange) ?? null;
  print.data({ ...diagnosisView(diagnosis), fixed: diffs }, () =>
    [...describeFixed(fixed), print.advice(describe(diagnosis, print.style))].join("\n\n"),
  );
  if (!diagnosis.canStart) return REFUSES_TO_START;
  if (diagnosis.state === "fail") return false;
}

async function look(
  { home, environment, options }: Invocation,
  features: readonly Feature[],
): Promise<Diagnosis> {
  const server = await askServer(home);
  return examine({
    home,
    environment,
    features,
    nowMs: Date.now(),
    version: readVersion(),
    server,
    dependencies: options["dependencies"] === true,
    ...(options["offline"] === true ? {} : { request: fetch }),
  });
}

/** Returns the applied changes; a file that changed meanwhile is left for the next run. */
async function fix({ checks }: Diagnosis): Promise<Change[]> {
  const made: Change[] = [];
  for (const { change } of checks) if (change !== null && (await applyChange(change))) made.push(change);
  return made;
}

/** A server that does not respond counts as none. */
async function askServer(home: string): Promise<{ url: string; version: string } | undefined> {
  const server = await findServer(home);
  if (server === undefined) return undefined;
  try {
    const { body } = await ask<{ readonly version: string }>(server, { path: "/api/health" });
    return { url: urlOf(server), version: body.version };
  } catch {
    return undefined;
  }
}

function describe({ checks, canStart }: Diagnosis, style: Invocation["print"]["style"]): string {
  const rows = checks.flatMap(({ state, name, message, hint }) => [
    ...lines(message).map((line, at) => (at === 0 ? [state, name, line] : ["", "", line])),
    ...(hint === null ? [] : lines(hint).map((line) => ["", "", `  ${line}`])),
  ]);
  const list = table(rows).replaceAll(/^(?:ok|warn|fail)\b/gm, (word) =>
    style(word === "ok" ? "green" : word === "warn" ? "yellow" : "red", word),
  );
  const wanted = checks.flatMap(({ change }) => (change === null ? [] : describeChange(change)));
  return [
    list,
    ...(wanted.length === 0
      ? []
      : [`\`cortex doctor --fix\` would change:\n${wanted.map(harmless).join("\n")}`]),
    canStart ? summary(checks) : `${summary(checks)} Cortex cannot start until the failures are fixed.`,
  ].join("\n\n");
}

function describeFixed(fixed: readonly Change[] | undefined): string[] {
  if (fixed === undefined) return [];
  if (fixed.length === 0) return ["Nothing to change."];
  return [["Changed:", ...fixed.flatMap(describeChange).map(harmless)].join("\n")];
}

function summary(checks: readonly Check[]): string {
  const fails = checks.filter(({ state }) => state === "fail").length;
  const warns = checks.filter(({ state }) => state === "warn").length;
  if (fails === 0 && warns === 0) return "No problems found.";
  return `${count(fails, "failure")}, ${count(warns, "warning")}.`;
}

function lines(text: string): string[] {
  return harmless(text).split("\n");
}
