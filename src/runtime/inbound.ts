/** The ways in that are Cortex's own: the timer, webhooks and watched folders, as they are configured at this moment. */
import { join, sep } from "node:path";

import { FolderWatch, type KnownFile, type WatchedFolder } from "../channels/files/folder-watch.ts";
import { Timer } from "../channels/timer/timer.ts";
import { receiveWebhook, type Source } from "../channels/webhook/receive.ts";
import type { Config } from "../config/config.ts";
import type { Incoming } from "../events/incoming.ts";
import type { IncomingWebhook, ReceivedWebhook } from "../feature/cortex.ts";
import type { AcceptedEvent } from "../intake/accept-event.ts";
import { CortexError } from "../model/errors.ts";
import { MINUTE_MS } from "../model/durations.ts";
import type { FileState, Store } from "../store/store.ts";
import type { Settings } from "../config/settings.ts";

interface InboundParts {
  readonly home: string;
  readonly store: Pick<Store, "events" | "files">;
  readonly settings: Pick<Settings, "config" | "variable">;
  readonly clock: () => number;
  /** Takes an event in, once; with a file, notes what is known of it in the same commit. */
  readonly accept: (incoming: Incoming, file?: FileState) => Promise<AcceptedEvent>;
  /** Whether some hook listens to the timer. */
  readonly wantsTimer: () => boolean;
  readonly log: (line: string) => void;
}

/** How many files are read from the store at once. */
const KNOWN_PAGE = 1_000;

export class Inbound implements AsyncDisposable {
  readonly #parts: InboundParts;
  readonly #timer: Timer;
  /** By their settings: one that is configured otherwise is another. */
  readonly #folders = new Map<string, FolderWatch>();
  readonly #refusals = new Map<string, number>();
  #isOpen = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(parts: InboundParts) {
    const { store, clock, accept, wantsTimer, log } = parts;
    this.#parts = parts;
    this.#timer = new Timer({
      clock,
      isWanted: wantsTimer,
      lastBefore: (minuteMs) => lastMinute(store.events, minuteMs),
      accept,
      onProblem: (error) => log(`The timer waits, because its event was not taken in: ${String(error)}`),
    });
  }

  start(): void {
    this.#isOpen = true;
    this.#timer.start();
    this.lookAgain();
  }

  /** Takes over what the configuration says of folders now. */
  lookAgain(): void {
    this.#changing = this.#changing.then(() => this.#changeFolders());
  }

  /** Throws `webhook_unknown`, `webhook_unconfigured`, `signature_invalid`, and what taking an event in does. */
  async receiveWebhook(name: string, { header, body }: IncomingWebhook): Promise<ReceivedWebhook> {
    const { settings, clock, accept } = this.#parts;
    try {
      const source = sourceOf(name, settings);
      const request = { header, body: await body() };
      const received = receiveWebhook(request, { name, source, nowMs: clock() });
      if (received.kind === "challenge") return received;
      return { kind: "event", ...(await accept(received.event)) };
    } catch (error) {
      if (error instanceof CortexError) this.#noteRefusal(name, error);
      // Whoever sends it has not shown that they may know how Cortex is configured.
      throw error instanceof CortexError && error.code === "webhook_unconfigured" ? notReady(error) : error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#changing;
    await Promise.all([
      this.#timer[Symbol.asyncDispose](),
      ...Array.from(this.#folders.values(), (folder) => folder[Symbol.asyncDispose]()),
    ]);
  }

  async #changeFolders(): Promise<void> {
    if (!this.#isOpen) return;
    const wanted = new Map(
      this.#foldersApart().map((watched): [string, WatchedFolder] => [JSON.stringify(watched), watched]),
    );
    const gone = [...this.#folders].filter(([key]) => !wanted.has(key));
    for (const [key, folder] of gone) {
      this.#folders.delete(key);
      await folder[Symbol.asyncDispose]();
    }
    for (const [key, watched] of wanted) {
      if (this.#folders.has(key)) continue;
      const folder = this.#openFolder(watched);
      this.#folders.set(key, folder);
      folder.start();
    }
  }

  /**
   * A file that is in two of them would be told of by both, with what each knows of it. Where the ledger itself is
   * in one of them, every event would be followed by another.
   */
  #foldersApart(): WatchedFolder[] {
    const { home, settings, log } = this.#parts;
    const apart: WatchedFolder[] = [];
    for (const [name, watched] of Object.entries(settings.config().channels.files)) {
      const other = apart.find(({ folder }) => overlap(folder, watched.folder));
      if (overlap(watched.folder, join(home, "data")))
        log(`The folder "${name}" is not watched: the ledger is in it (${watched.folder}).`);
      else if (other === undefined) apart.push({ name, ...watched });
      else log(`The folder "${name}" is not watched: it overlaps with "${other.name}" (${other.folder}).`);
    }
    return apart;
  }

  #openFolder(watched: WatchedFolder): FolderWatch {
    const { store, clock, accept, log } = this.#parts;
    return new FolderWatch(watched, {
      clock,
      known: (under) => readKnown(store.files, under),
      accept,
      note: (files) => store.files.note(files),
      onProblem: (problem) => log(`Watching "${watched.name}": ${problem}.`),
    });
  }

  /** Senders try again and again, and scanners try all names: the owner is told once a minute. */
  #noteRefusal(name: string, { code, message, hint }: CortexError): void {
    const { clock, log } = this.#parts;
    const key = code === "webhook_unknown" ? code : `${code} ${name}`;
    const minute = Math.floor(clock() / MINUTE_MS);
    if (this.#refusals.get(key) === minute) return;
    this.#refusals.set(key, minute);
    log(`A webhook to ${JSON.stringify(name.slice(0, 80))} was refused: ${message}. ${hint}`);
  }
}

function sourceOf(name: string, { config, variable }: InboundParts["settings"]): Source {
  const { webhooks } = config().channels;
  const found: Config["channels"]["webhooks"][string] | undefined = Object.hasOwn(webhooks, name)
    ? webhooks[name]
    : undefined;
  if (found?.scheme === undefined) throw webhookUnknown(name);
  if (found.scheme === "unsigned") return { scheme: found.scheme };
  const secret = variable(found.secretEnv!); // the configuration is not valid without it
  if (secret === undefined || secret === "") throw secretMissing(name, found.secretEnv!);
  return { scheme: found.scheme, secret };
}

async function lastMinute(events: Store["events"], minuteMs: number): Promise<number | undefined> {
  const last = await events.lastOf("timer");
  if (last === undefined || last.atMs < minuteMs) return last?.atMs;
  // The clock has been ahead, or this is a second start within the minute. Answers are on the channel too.
  const { items } = await events.list({
    channel: "timer",
    direction: "received",
    untilMs: minuteMs,
    limit: 1,
  });
  return items[0]?.atMs;
}

async function readKnown(files: Store["files"], under: string): Promise<KnownFile[]> {
  const known: KnownFile[] = [];
  for (;;) {
    const after = known.at(-1)?.path;
    const page = await files.known({ under, limit: KNOWN_PAGE, ...(after === undefined ? {} : { after }) });
    known.push(...page);
    if (page.length < KNOWN_PAGE) return known;
  }
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((folder) => (folder.endsWith(sep) ? folder : folder + sep)) as [
    string,
    string,
  ];
  return a.startsWith(b) || b.startsWith(a);
}

function webhookUnknown(name: string): CortexError {
  return new CortexError("webhook_unknown", `No webhook is called ${JSON.stringify(name.slice(0, 80))}`, {
    hint: "Check the name in the URL. The owner names webhooks in cortex.json, under `channels.webhooks`.",
  });
}

function notReady(cause: CortexError): CortexError {
  return new CortexError("webhook_unconfigured", "This webhook cannot be taken at the moment", {
    hint: "Try again later. The owner finds the reason in the log and with `cortex doctor`.",
    transient: true,
    cause,
  });
}

function secretMissing(name: string, variable: string): CortexError {
  return new CortexError(
    "webhook_unconfigured",
    `The webhook "${name}" has no secret: ${variable} is not set`,
    {
      hint: `Set ${variable} in the environment of Cortex or in config/.env.`,
      transient: true,
    },
  );
}
