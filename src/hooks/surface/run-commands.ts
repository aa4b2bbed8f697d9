/** Runs `cortex hooks …`: listing, testing, enabling and creating hooks. */
import { readFileSync } from "node:fs";

import { CortexError } from "../../model/errors.ts";
import { parseSchedule } from "../../model/schedule.ts";
import { readConfigured } from "../../config/configured.ts";
import { findHookFile, writeNewHook } from "../folder/files.ts";
import { hookUnknown } from "../hook-name.ts";
import { upcoming } from "./schedule.ts";
import { type HookRunView, hookRunView, type HookView, hookView, readHooks } from "./views.ts";
import { pageOf } from "../../feature/page.ts";
import { ask } from "../../client/ask.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { limitOf, openLedger } from "../../client/ledger.ts";
import { needServer } from "../../client/server.ts";
import { count, duration, firstLine, harmless, indent, moment, table } from "../../terminal/text.ts";

const MAX_TEXT_LENGTH = 100;
/** How many runs `show` lists. */
const SHOWN_RUNS = 5;

export async function listHooks({ home, print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const items = await readHooks(ledger);
  print.data({ items, next: null }, () =>
    items.length === 0
      ? print.advice("No hooks. Create one with `cortex hooks new <name>`.")
      : table(items.map((hook) => [hook.name, statusOf(hook), firedOf(hook), aboutOf(hook)])),
  );
}

export async function showHook({ home, args, print }: Invocation): Promise<void> {
  const name = nameIn(args);
  await using ledger = await openLedger(home);
  const hook = await ledger.hooks.get(name);
  if (hook === undefined) throw hookUnknown(name);
  const view = hookView(hook, await ledger.hooks.health(name));
  const file = findHookFile(home, name);
  const source = file === undefined ? null : readFileSync(file, "utf8");
  const runs = (await ledger.hooks.runs(name, { limit: SHOWN_RUNS })).items.map(hookRunView);
  const { health } = view;
  print.data({ ...view, file: file ?? null, source, runs }, () =>
    [
      table([
        ["hook", name],
        ["title", harmless(view.title)],
        ["does", firstLine(view.description, MAX_TEXT_LENGTH) || "no description"],
        ["mode", view.mode],
        ["status", statusOf(view)],
        ...(view.origin === "agent" ? [["written by", "an agent: read it before you enable it"]] : []),
        ...(view.error === null ? [] : [["error", firstLine(view.error, MAX_TEXT_LENGTH)]]),
        ["filter", view.filter === null ? "none: judges every event" : JSON.stringify(view.filter)],
        ["fired", firedOf(view)],
        ["health", `${count(health.errors, "error")} in ${count(health.runs, "run")}${p95Of(view)}`],
        ["file", file ?? "missing"],
      ]),
      ...(source === null ? [] : [indent(harmless(source.trimEnd()))]),
      ...(runs.length === 0 ? [] : [table(runs.map(runCells))]),
    ].join("\n\n"),
  );
}

export async function listHookRuns(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.hooks.runs(nameIn(given.args), { limit }), hookRunView);
  given.print.data(page, () => (page.items.length === 0 ? "No runs yet." : table(page.items.map(runCells))));
}

export async function listUpcoming(given: Invocation): Promise<void> {
  const { home, environment, print } = given;
  const limit = limitOf(given);
  await using ledger = await openLedger(home);
  const { config } = await readConfigured({ home, environment });
  const hooks = await ledger.hooks.list();
  const items = upcoming(hooks, { afterMs: Date.now(), timezone: config.timezone, limit });
  print.data({ items, next: null }, () =>
    items.length === 0
      ? "No active hook has a schedule."
      : table(
          items.map(({ hook, at, schedule, timezone }) => [moment(at), hook, `${schedule} (${timezone})`]),
        ),
  );
}

export async function enableHook(given: Invocation): Promise<void | false> {
  return setEnabled(given, true);
}

export async function disableHook(given: Invocation): Promise<void | false> {
  return setEnabled(given, false);
}

/** Dry-runs a hook on an event of the ledger, or one described by options. */
export async function testHook(given: Invocation): Promise<void | false> {
  const { home, args, print } = given;
  const server = await needServer(home);
  const path = `/api/hooks/${encodeURIComponent(nameIn(args))}/test`;
  const { body } = await ask(server, { method: "POST", path, body: eventOf(given) });
  const trial = body as unknown as Trial;
  print.data(trial, () => describeTrial(trial));
  return trial.error === null ? undefined : false;
}

export async function createHook(given: Invocation): Promise<void> {
  const { home, args, print } = given;
  const name = nameIn(args);
  const schedule = text(given, "schedule");
  if (schedule !== undefined) parseSchedule(schedule);
  const path = writeNewHook(home, name, schedule);
  const trial = schedule === undefined ? '--channel email --content "An invoice"' : "--channel timer";
  print.data({ name, path }, () =>
    [
      `Wrote ${path}`,
      "Fill it in. While a server is running, test it with",
      print.advice(`  cortex hooks test ${name} ${trial}`),
      "and enable it with",
      print.advice(`  cortex hooks enable ${name}`),
    ].join("\n"),
  );
}

type Trial = Pick<HookRunView, "fired" | "result" | "error" | "llmCalls" | "durationMs"> & {
  readonly hook: string;
  readonly matches: boolean;
};

/** False: it was enabled but cannot be loaded. */
async function setEnabled({ home, args, print }: Invocation, enabled: boolean): Promise<void | false> {
  const server = await needServer(home);
  const path = `/api/hooks/${encodeURIComponent(nameIn(args))}`;
  const { body } = await ask(server, { method: "PATCH", path, body: { enabled } });
  const hook = body as unknown as HookView;
  print.data(body, () => `${hook.name} is ${statusOf(hook)}.${hook.error === null ? "" : ` ${hook.error}`}`);
  if (!enabled || hook.status !== "errored") return;
  print.note(`Fix its file in ${home}/hooks; it is reloaded when you save it.`);
  return false;
}

/** The command's syntax requires it. */
function nameIn([name = ""]: readonly (string | undefined)[]): string {
  return name;
}

function eventOf(given: Invocation): object {
  const eventId = text(given, "event");
  const described = {
    channel: text(given, "channel"),
    sender: text(given, "sender"),
    content: text(given, "content"),
    payload: jsonOf(given, "payload"),
    metadata: jsonOf(given, "metadata"),
    adapter: text(given, "adapter") ?? text(given, "channel"),
    timestamp: momentOf(given),
  };
  const isDescribed = Object.values(described).some((value) => value !== undefined);
  if (eventId !== undefined && !isDescribed) return { eventId };
  if (eventId === undefined && described.channel !== undefined) return { event: described };
  throw new CortexError("usage", "Expected exactly one test event", {
    hint: "Choose one with --event <id>, or describe one with --channel and --content.",
  });
}

function jsonOf(given: Invocation, option: string): unknown {
  const value = text(given, option);
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value);
  } catch (cause) {
    throw new CortexError("usage", `Expected JSON for --${option}, got ${value.slice(0, 80)}`, {
      hint: `For example: --${option} '{"amount": 20000}'.`,
      cause,
    });
  }
}

function momentOf(given: Invocation): string | undefined {
  const at = text(given, "at");
  if (at === undefined) return undefined;
  const date = new Date(at);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new CortexError("usage", `Invalid time "${at}"`, {
    hint: "For example: --at 2026-12-01T09:00.",
  });
}

function describeTrial({ hook, matches, fired, result, error, llmCalls, durationMs }: Trial): string {
  if (error !== null) return `${hook} failed after ${duration(durationMs)}: ${harmless(error)}`;
  if (!matches) return `${hook} would not run: the event does not pass its filter.`;
  const asked = llmCalls === 0 ? "" : `, with ${count(llmCalls, "model call")}`;
  return [
    `${hook} ${fired ? "fires" : "does not fire"}, after ${duration(durationMs)}${asked}.`,
    ...(result === null ? [] : [indent(harmless(JSON.stringify(result, null, 2)))]),
  ].join("\n");
}

function statusOf({ status, present }: HookView): string {
  return present ? status : `${status}, its file is missing`;
}

function firedOf({ triggers, triggeredAt }: HookView): string {
  return triggeredAt === null ? "never" : `${count(triggers, "time")}, last ${moment(triggeredAt)}`;
}

function p95Of({ health: { p95Ms } }: HookView): string {
  return p95Ms === null ? "" : `, p95 ${duration(p95Ms)}`;
}

function aboutOf({ error, description }: HookView): string {
  return firstLine(error ?? description, MAX_TEXT_LENGTH);
}

function runCells(run: HookRunView): string[] {
  const { startedAt, fired, error, skipped, eventId, durationMs, llmCalls } = run;
  const outcome = error !== null ? "failed" : fired ? "fired" : skipped !== null ? "skipped" : "no";
  const note = error ?? skipped ?? (llmCalls === 0 ? "" : count(llmCalls, "model call"));
  return [moment(startedAt), outcome, duration(durationMs), eventId, firstLine(note, MAX_TEXT_LENGTH)];
}
