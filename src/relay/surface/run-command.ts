/** Commands that start and steer relays through the server. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import type { RelayView } from "./views.ts";
import type { DryRun, RelaySaid } from "../relays.ts";

import { type Invocation, text } from "../../feature/command.ts";
import { askForBody, askForRelay, awaitRelay } from "./progress.ts";
import { readMessage } from "../../terminal/read-input.ts";
import { describeDryRun, isGood } from "./text.ts";
import { needServer, type RunningServer } from "../../client/server.ts";
import { needOrStartServer } from "../../client/start-server.ts";
import { count, harmless } from "../../terminal/text.ts";

export async function runRelay(given: Invocation): Promise<void | false> {
  const { args, options, print } = given;
  const [name = "", message = ""] = args;
  const body = {
    name,
    message: await readMessage(message, "cortex relay run <template|agent>"),
    dir: absolute(text(given, "dir")),
    profile: text(given, "profile"),
    budgetUsd: budgetOf(given),
    channel: CHANNEL,
    idempotencyKey: text(given, "key") ?? randomUUID(),
  };
  const server = await needOrStartServer(given);
  if (options["dryRun"] === true) {
    const request = { method: "POST", path: PATH, body: { ...body, dryRun: true } } as const;
    const dryRun = (await askForBody(server, request)) as DryRun;
    return print.data(dryRun, () => describeDryRun(dryRun));
  }
  const record = await askForRelay(server, { method: "POST", path: PATH, body });
  return reportStart(record, server, given);
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

export async function addAgentToRelay(given: Invocation): Promise<void | false> {
  const [, agent, message] = given.args;
  return change(given, "add", { agent, message });
}

export async function resumeRelay(given: Invocation): Promise<void | false> {
  return change(given, "resume");
}

export async function cancelRelay({ home, args, print }: Invocation): Promise<void> {
  const [id = ""] = args;
  const server = await needServer(home);
  const body = await askForBody(server, { method: "POST", path: pathOf(id, "cancel") });
  print.data(body, () => `Cancelling ${id}.`);
}

export async function sayToRelay({ home, args, print }: Invocation): Promise<void> {
  const [id = "", content] = args;
  const server = await needServer(home);
  const request = { method: "POST", path: pathOf(id, "messages"), body: { content } } as const;
  const body = (await askForBody(server, request)) as RelaySaid;
  if (body.answered !== null) return print.data(body, () => `Answered ${id}.`);
  print.data(body, () =>
    [
      `Buffered for the next step of ${id}: ${count(body.buffered, "message")}.`,
      ...(body.dropped === 0 ? [] : [`Dropped older messages: ${body.dropped}.`]),
    ].join("\n"),
  );
}

/** The channel in the record. */
const CHANNEL = "cli";
const PATH = "/api/relays";

async function change(given: Invocation, verb: string, body?: object): Promise<void | false> {
  const [id = ""] = given.args;
  const server = await needServer(given.home);
  const request = { method: "POST", path: pathOf(id, verb), ...present({ body }) } as const;
  return reportStart(await askForRelay(server, request), server, given);
}

/** With `--wait`, follows the relay to its end. False: it did not complete. */
async function reportStart(
  begun: RelayView,
  server: RunningServer,
  given: Invocation,
): Promise<void | false> {
  const { options, print } = given;
  if (options["wait"] !== true) {
    print.data(begun, () =>
      harmless(`Started ${begun.id}. \`cortex relay status ${begun.id}\` shows its progress.`),
    );
    return;
  }
  const { record, output } = await awaitRelay(begun, server, given);
  print.data({ ...record, output }, () => harmless(output ?? ""));
  return isGood(record) ? undefined : false;
}

function pathOf(id: string, verb: string): string {
  return `${PATH}/${encodeURIComponent(id)}/${verb}`;
}

function budgetOf(given: Invocation): number | undefined {
  const wanted = text(given, "budget");
  if (wanted === undefined) return undefined;
  const usd = Number(wanted);
  if (Number.isFinite(usd) && usd > 0) return usd;
  throw new CortexError("usage", `Invalid budget "${wanted}"`, {
    hint: "Expected a positive amount in USD, such as --budget 2.50.",
  });
}
