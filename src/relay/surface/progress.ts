/**
 * Follows a relay to its end. Every event is printed as a line; a terminal also shows a live progress line below. The relay
 * does not depend on its watcher, which finds a restarted server again.
 */
import { clearLine, cursorTo } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import type { RelayView } from "./views.ts";
import type { ApprovalView } from "../../feature/approval-view.ts";
import { howTo, summarizeRequest } from "../../client/describe-request.ts";
import { ask, isConnectionLost, type Request } from "../../client/ask.ts";
import type { Invocation } from "../../feature/command.ts";
import { endLine, isOver, relayProgressLine, stepLine } from "./text.ts";
import { findServer, type RunningServer } from "../../client/server.ts";
import { shorten } from "../../terminal/text.ts";

/** How often the server is asked. */
const LOOK_EVERY_MS = 250;
const DEFAULT_COLUMNS = 80;

interface RelayEnd {
  readonly record: RelayView;
  /** The artifact, else the last answer. */
  readonly output: string | null;
}

/** The body of a reply. The server guarantees its form by its schemas. */
export async function askForBody(server: RunningServer, request: Request): Promise<unknown> {
  return (await ask(server, request)).body;
}

export async function askForRelay(server: RunningServer, request: Request): Promise<RelayView> {
  return (await askForBody(server, request)) as RelayView;
}

export async function awaitRelay(
  begun: RelayView,
  server: RunningServer,
  given: Invocation,
): Promise<RelayEnd> {
  const path = `/api/relays/${encodeURIComponent(begun.id)}`;
  const shown = new Progress(begun, given);
  let record = begun;
  let from = server;
  shown.tell(record, Date.now());
  while (!isOver(record)) {
    await wait(LOOK_EVERY_MS);
    try {
      record = await askForRelay(from, { path });
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      from = (await findServer(given.home)) ?? from; // it may come back, on another port
    }
    shown.tell(record, Date.now());
    if (record.status === "waiting") shown.tellRequests(await requestsOf(record, from));
  }
  shown.end(record, Date.now());
  return { record, output: await readOutput(record, from) };
}

/** The open requests of its steps to people. */
async function requestsOf({ id }: RelayView, server: RunningServer): Promise<readonly ApprovalView[]> {
  try {
    const path = "/api/approvals?state=open&limit=100";
    const { items } = (await askForBody(server, { path })) as { readonly items: readonly ApprovalView[] };
    return items.filter(({ session }) => session.startsWith(`thr:${id}:`));
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    return []; // asked again when it is back
  }
}

/** The result of a relay. */
export async function readOutput(record: RelayView, server: RunningServer): Promise<string | null> {
  try {
    const path = `/api/relays/${encodeURIComponent(record.id)}/artifact`;
    const { content } = (await askForBody(server, { path })) as { readonly content: string };
    if (content.trim() !== "") return content;
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "state_conflict") throw error; // unreadable
  }
  return record.steps.findLast(({ kind, output }) => kind === "agent" && output !== null)?.output ?? null;
}

function isEnded({ status }: RelayView["steps"][number]): boolean {
  return status !== "running";
}

class Progress {
  readonly #note: (line: string) => void;
  readonly #advice: (text: string) => string;
  readonly #isLive: boolean;
  /** How many steps were reported as begun and as ended. */
  #begun = 0;
  #ended = 0;
  readonly #asked = new Set<string>();

  constructor({ steps }: RelayView, { print, options }: Invocation) {
    this.#ended = steps.filter(isEnded).length;
    this.#note = (line) => print.json || print.note(line);
    this.#advice = (text) => print.advice(text);
    this.#isLive = process.stderr.isTTY && !print.json && options["quiet"] !== true;
  }

  tell(record: RelayView, nowMs: number): void {
    const ended = record.steps.filter(isEnded);
    const news = ended.slice(this.#ended);
    this.#ended = ended.length;
    if (this.#isLive) this.#clear();
    for (const step of news) this.#note(stepLine(step));
    if (isOver(record)) return;
    if (this.#isLive)
      process.stderr.write(
        shorten(relayProgressLine(record, nowMs), (process.stderr.columns || DEFAULT_COLUMNS) - 1),
      );
    else if (record.steps.length > this.#begun || this.#begun === 0)
      this.#note(relayProgressLine(record, nowMs));
    this.#begun = Math.max(record.steps.length, 1);
  }

  tellRequests(requests: readonly ApprovalView[]): void {
    for (const request of requests.filter(({ id }) => !this.#asked.has(id))) {
      this.#asked.add(request.id);
      if (this.#isLive) this.#clear();
      this.#note(`${summarizeRequest(request)}\n${this.#advice(howTo(request))}`);
    }
  }

  end(record: RelayView, nowMs: number): void {
    if (this.#isLive) this.#clear();
    this.#note(endLine(record, nowMs));
  }

  #clear(): void {
    clearLine(process.stderr, 0);
    cursorTo(process.stderr, 0);
  }
}
