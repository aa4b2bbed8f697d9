/** A home with one chat channel, its counterpart, and a Cortex on it whose clock the check moves on. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Capabilities } from "../channels/channel.ts";
import type { AccountStatus } from "../channels/hub/hub.ts";
import type { Counterpart, SentMessage, Where } from "../channels/kit/counterpart.ts";
import type { Cortex } from "../feature/cortex.ts";
import type { Json } from "../model/json.ts";
import type { Identity } from "../model/principal.ts";
import { openCortex } from "../runtime/cortex.ts";
import type { StoredDelivery, StoredEvent } from "../store/store.ts";
import { eventually, must } from "./expect.ts";
import type { Subject } from "./subject.ts";

export interface WorldOptions {
  /** Of the offline model, as YAML. */
  readonly script?: string;
  /** The channel's own settings, such as `groups`. */
  readonly settings?: Readonly<Record<string, Json>>;
  /** Further settings of the home. */
  readonly cortex?: Readonly<Record<string, Json>>;
  /** How many people are the owner, from number 0. The next ones are strangers. */
  readonly owners?: number;
  /** How many seconds its clock shows for each that passes. */
  readonly speed?: number;
}

/** Answers everything with what was said. */
const ECHO = `
- when: ".*"
  plays: [{ say: "echo {{message}}" }]
`;
const MAX_LISTED = 1_000;

export class World implements AsyncDisposable {
  readonly name: string;
  readonly can: Capabilities;
  readonly counterpart: Counterpart;
  readonly home: string;
  /** What Cortex has logged. */
  readonly log: string[] = [];
  readonly #speed: number;
  readonly #startedAtMs = Date.now();
  #aheadMs = 0;
  #cortex: Cortex | undefined;

  private constructor(
    { module: { name, can } }: Pick<Subject, "module">,
    counterpart: Counterpart,
    { home, speed }: { readonly home: string; readonly speed: number },
  ) {
    this.name = name;
    this.can = can;
    this.counterpart = counterpart;
    this.home = home;
    this.#speed = speed;
  }

  /** With Cortex connected. */
  static async open(subject: Subject, options: WorldOptions = {}): Promise<World> {
    const world = await World.prepare(subject, options);
    try {
      await world.start();
      await world.live();
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  /** With the people let in, and no Cortex running. */
  static async prepare(subject: Subject, options: WorldOptions = {}): Promise<World> {
    const home = mkdtempSync(join(tmpdir(), "cortex-conformance-"));
    const counterpart = await subject.start();
    const world = new World(subject, counterpart, { home, speed: options.speed ?? 1 });
    try {
      writeHome(home, subject, counterpart, options);
      await using cortex = await world.#open({ features: [] });
      const link = Array.from(
        { length: options.owners ?? 1 },
        (_, person) => `${world.name}:${counterpart.sender(person)}` as Identity,
      );
      await cortex.store.people.change("owner", { link }, { principal: "owner" });
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  get cortex(): Cortex {
    must("a running Cortex", undefined, this.#cortex !== undefined);
    return this.#cortex!;
  }

  async start(): Promise<void> {
    this.#cortex = await this.#open({});
  }

  async restart(): Promise<void> {
    await this.#cortex?.stop();
    await this.start();
    await this.live();
  }

  /** Its time, which only goes on. */
  readonly now = (): number => {
    const passedMs = Date.now() - this.#startedAtMs;
    return Math.round(this.#startedAtMs + passedMs * this.#speed + this.#aheadMs);
  };

  /** Moves the clock on at once, whatever the connection says. */
  async jump(ms: number): Promise<void> {
    this.#aheadMs += ms;
    await this.cortex.channels.look();
  }

  /** Moves the clock on in steps that leave the connection time to prove that it lives. */
  async pass(ms: number): Promise<void> {
    const stepMs = Math.round(this.can.proofMs * 0.7);
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      await this.jump(Math.min(leftMs, stepMs));
      const nowMs = this.now();
      await eventually(
        "a sign of life from the receiving transport",
        () => this.status(),
        ({ lastProofAtMs }) => lastProofAtMs !== undefined && lastProofAtMs >= nowMs,
      );
    }
  }

  status(): AccountStatus {
    const status = this.cortex.channels.list().find(({ channel }) => channel === this.name);
    must(`a channel ${this.name}`, this.log, status !== undefined);
    return status!;
  }

  async live(): Promise<void> {
    await eventually(
      "the state live",
      () => this.status(),
      ({ state }) => state === "live",
    );
  }

  sentTo(where: Where): readonly SentMessage[] {
    const { place, topic } = this.counterpart.place(where);
    return this.counterpart.sent.filter((sent) => sent.place === place && sent.topic === topic);
  }

  /** Waits for a message of the account with these words, and returns all that have them. */
  async answer(where: Where, words: string): Promise<readonly SentMessage[]> {
    return eventually(
      `a message ${JSON.stringify(words)} in ${JSON.stringify(where)}`,
      () => this.sentTo(where).filter(({ text }) => letters(text).includes(letters(words))),
      (found) => found.length > 0,
    );
  }

  /** All events of the channel so far, oldest first. */
  async events(): Promise<readonly StoredEvent[]> {
    const { items } = await this.cortex.store.events.list({ channel: this.name, limit: MAX_LISTED });
    return items.filter(({ direction }) => direction !== "sent").toReversed();
  }

  /** Waits until nothing of this channel waits to be sent, and returns all deliveries, oldest first. */
  async settled(count: number): Promise<readonly StoredDelivery[]> {
    const found = await eventually(
      `${count} deliveries, each sent or given up`,
      async () => (await this.cortex.store.outbox.list({ limit: MAX_LISTED })).items.toReversed(),
      (items) => items.length >= count && items.every(({ state }) => state === "sent" || state === "dead"),
    );
    return found.filter(({ target }) => target.channel === this.name);
  }

  /** Waits until everything that was said is acknowledged. */
  async acknowledged(): Promise<void> {
    await eventually(
      "everything acknowledged",
      () => this.counterpart.unacknowledged,
      (unacknowledged) => unacknowledged === 0,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cortex?.stop();
    await this.counterpart[Symbol.asyncDispose]();
    rmSync(this.home, { recursive: true, force: true });
  }

  #open(more: { readonly features?: readonly [] }): Promise<Cortex> {
    return openCortex({
      ...more,
      home: this.home,
      environment: { PATH: process.env["PATH"] },
      clock: this.now,
      log: (line) => void this.log.push(line),
    });
  }
}

/** What is compared of a text: platforms differ in marks and whitespace. */
export function letters(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

function writeHome(
  home: string,
  { module: { name }, entry }: Subject,
  counterpart: Counterpart,
  { script = ECHO, settings = {}, cortex = {} }: WorldOptions,
): void {
  const config = join(home, "config");
  for (const folder of [config, join(home, "hooks")]) mkdirSync(folder, { recursive: true });
  const files: Readonly<Record<string, string>> = {
    "hooks/conformance.ts": `export default ({ event }) => ({ fire: event.channel === ${JSON.stringify(name)} && event.content_type === "text" });\n`,
    "config/script.yaml": script,
    "config/.env": Object.entries(counterpart.variables)
      .map(([variable, value]) => `${variable}=${value}\n`)
      .join(""),
    "config/profiles.json": JSON.stringify({
      defaultProfile: "offline",
      profiles: { offline: { backend: "offline", script: "script.yaml" } },
    }),
    "config/cortex.json": JSON.stringify({
      broker: { queue: { mode: "followup", cap: 1_000 } },
      people: { limits: { pending: 1_000, perMinute: 100_000 } },
      sandbox: "off",
      ...cortex,
      channels: { [name]: { ...entry, ...counterpart.settings, ...settings } },
    }),
  };
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(home, path), content, { mode: 0o600 });
}
