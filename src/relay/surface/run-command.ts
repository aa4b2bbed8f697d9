/** Relays: starting and steering them, which the server does. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";

import { CortexError } from "../../model/errors.ts";
import type { RelayView } from "./views.ts";
import type { DryRun } from "../relays.ts";
import { ask } from "../../client/ask.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { awaitRelay } from "./progress.ts";
import { readMessage } from "../../terminal/read-input.ts";
import { describeDryRun, isGood } from "./text.ts";
import { needServer, type RunningServer } from "../../client/server.ts";
import { needOrStartServer } from "../../client/start-server.ts";
import { harmless } from "../../terminal/text.ts";

export async function run(given: Invocation): Promise<void | false> {
  const { args, options, print } = given;
  const message = await readMessage(args[1]!, "cortex relay run <template|agent>");
  const server = await needOrStartServer(given);
  const dir = text(given, "dir");
  const body = {
    name: args[0]!,
    message,
    dir: dir === undefined ? undefined : resolve(dir),
    profile: text(given, "profile"),
    budgetUsd: budgetOf(given),
    channel: CHANNEL,
    idempotencyKey: text(given, "key") ?? randomUUID(),
  };
  if (options["dryRun"] === true) {
    const reply = await ask(server, { method: "POST", path: PATH, body: { ...body, dryRun: true } });
    const dryRun = reply.body as unknown as DryRun;
    return print.data(dryRun, () => describeDryRun(dryRun));
  }
  const reply = await ask(server, { method: "POST", path: PATH, body });
  return tellBegun(reply.body as unknown as RelayView, server, given);
}

export async function add(given: Invocation): Promise<void | false> {
  const [after, agent, message] = given.args;
  return change(given, after!, "add", { agent: agent!, message });
}

export async function resume(given: Invocation): Promise<void | false> {
  return change(given, given.args[0]!, "resume");
}

export async function cancel({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const { body } = await ask(server, { method: "POST", path: pathOf(args[0]!, "cancel") });
  print.data(body, () => `${args[0]} is being cancelled.`);
}

export async function say({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const request = {
    method: "POST",
    path: pathOf(args[0]!, "messages"),
    body: { content: args[1]! },
  } as const;
  const { body } = await ask(server, request);
  const { buffered, dropped, answered } = body as {
    buffered: number;
    dropped: number;
    answered: string | null;
  };
  if (answered !== null) return print.data(body, () => `${args[0]} has its answer.`);
  print.data(body, () =>
    [
      `The next step of ${args[0]} is told. Messages that wait for it: ${buffered}.`,
      ...(dropped === 0 ? [] : [`Messages that were too many, and are dropped: ${dropped}.`]),
    ].join("\n"),
  );
}

/** What the record says of where it was started. */
const CHANNEL = "cli";
const PATH = "/api/relays";

async function change(given: Invocation, id: string, verb: string, body?: object): Promise<void | false> {
  const server = await needServer(given.home);
  const request = {
    method: "POST",
    path: pathOf(id, verb),
    ...(body === undefined ? {} : { body }),
  } as const;
  const reply = await ask(server, request);
  return tellBegun(reply.body as unknown as RelayView, server, given);
}

/** With `--wait`, follows the relay to its end. False: that was no good one. */
async function tellBegun(begun: RelayView, server: RunningServer, given: Invocation): Promise<void | false> {
  const { options, print } = given;
  if (options["wait"] !== true) {
    print.data(begun, () =>
      harmless(`${begun.id} has begun. \`cortex relay status ${begun.id}\` tells where it is.`),
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
  throw new CortexError("usage", `"${wanted}" is not a budget`, {
    hint: "A budget is a number of US dollars, as in --budget 2.50.",
  });
}
