/**
 * A program that is looked at: what it is told, all that it says, and how it ends. Unlike what runs sub-agents, it
 * keeps what breaks the protocol instead of giving up on it. It is started in a process group of its own, of which
 * nothing is left when the probe is disposed of.
 */
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";

import { type ChildProcessWithoutNullStreams, launchPiped } from "../../programs/launch.ts";
import { MAX_LINE_BYTES } from "./lines.ts";

/** What of a line is kept: enough to recognise it. Messages are kept whole. */
const MAX_SHOWN = 200;
const MAX_ERRORS_KEPT = 4_096;
/** What it may say: more than any answer to what it is asked here. */
const MAX_SAID_BYTES = 2 * MAX_LINE_BYTES;
const MAX_SAID_LINES = 100_000;
const LOOK_EVERY_MS = 20;

export type Said =
  | { readonly kind: "message"; readonly type: unknown; readonly message: Readonly<Record<string, unknown>> }
  /** No JSON object. */
  | { readonly kind: "garbage"; readonly shown: string };

/** late: it did not come in time. ended: the program ended first. cut: it talks too much to be listened to. */
export type Heard = Extract<Said, { kind: "message" }> | "late" | "ended" | "cut";

export interface ProbeOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export class Probe implements AsyncDisposable {
  readonly said: Said[] = [];
  readonly #child: ChildProcessWithoutNullStreams;
  #errors = "";
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;
  #saidBytes = 0;
  #isCut = false;
  #hasEnded = false;
  #isClosed = false;
  #change = Promise.withResolvers<void>();

  /** Rejects with what the system says where the program cannot be started. */
  static async start({ command: [file, ...args], environment }: ProbeOptions): Promise<Probe> {
    const child = launchPiped({ file: file!, args, environment });
    const probe = new Probe(child);
    await once(child, "spawn");
    return probe;
  }

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdin.on("error", () => {}); // it need not read what it is told
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_ERRORS_KEPT);
    });
    child.once("exit", () => {
      this.#hasEnded = true;
      this.#tell();
    });
    child.once("close", () => {
      this.#isClosed = true;
      if (this.#unfinishedBytes > 0)
        this.#keepLine(Buffer.concat(this.#unfinished), "without the end of a line");
      this.#tell();
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** How it ended, in words, with the last that it said of errors. */
  get end(): string {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode === null ? `it ended with ${exitCode}` : `it was ended by ${signalCode}`;
    const errors = this.#errors.trim().split("\n").slice(-3).join(" / ").slice(-MAX_SHOWN);
    return errors === "" ? how : `${how}, and said on standard error: ${errors}`;
  }

  write(data: string | Buffer): void {
    this.#child.stdin.write(data);
  }

  tell(message: object): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  /** As sub-agents are told: the whole group. */
  signal(signal: NodeJS.Signals): void {
    if (isGroupThere(this.#child.pid!)) process.kill(-this.#child.pid!, signal);
  }

  /** The first message from a place on in all that is said, of one of these types. */
  async hear(types: readonly string[], ms: number, from = 0): Promise<Heard> {
    const find = () =>
      this.said.slice(from).find((said) => said.kind === "message" && types.includes(String(said.type)));
    await this.#until(() => find() !== undefined || this.#isClosed || this.#isCut, ms);
    const found = find();
    if (found?.kind === "message") return found;
    if (this.#isCut) return "cut";
    return this.#hasEnded ? "ended" : "late";
  }

  /** Hears all that it says until its output is at its end, but not for longer. */
  async hearOut(ms: number): Promise<void> {
    await this.#until(() => this.#isClosed || this.#isCut, ms);
  }

  endsWithin(ms: number): Promise<boolean> {
    return this.#until(() => this.#hasEnded, ms);
  }

  /** Whether nobody of its group is left, now or soon. */
  async isGoneWithin(ms: number): Promise<boolean> {
    for (let left = ms; isGroupThere(this.#child.pid!); left -= LOOK_EVERY_MS) {
      if (left <= 0) return false;
      await after(LOOK_EVERY_MS);
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#over();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#keepLine(Buffer.concat([...this.#unfinished, chunk.subarray(from, at)]));
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.length > 0) {
      this.#unfinished.push(rest);
      this.#unfinishedBytes += rest.length;
    }
    this.#saidBytes += chunk.length;
    const problem = this.#tooMuch();
    if (problem !== undefined) {
      this.#keepLine(Buffer.concat(this.#unfinished), problem);
      this.#isCut = true;
      this.#child.stdout.destroy();
    }
    this.#tell();
  }

  #tooMuch(): string | undefined {
    if (this.#unfinishedBytes > MAX_LINE_BYTES) return `in a line of more than ${MAX_LINE_BYTES} bytes`;
    if (this.#saidBytes > MAX_SAID_BYTES) return `after more than ${MAX_SAID_BYTES} bytes`;
    return this.said.length > MAX_SAID_LINES ? `after more than ${MAX_SAID_LINES} lines` : undefined;
  }

  #keepLine(bytes: Buffer, problem?: string): void {
    this.#unfinished = [];
    this.#unfinishedBytes = 0;
    const message = problem === undefined ? parse(bytes) : undefined;
    if (message !== undefined) {
      this.said.push({ kind: "message", type: message["type"], message });
      return;
    }
    const shown = JSON.stringify(bytes.subarray(0, MAX_SHOWN).toString());
    this.said.push({ kind: "garbage", shown: problem === undefined ? shown : `${shown} ${problem}` });
  }

  async #until(holds: () => boolean, ms: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#tell();
    }, ms);
    try {
      while (!holds()) {
        if (isLate) return false;
        await this.#change.promise;
      }
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  async #over(): Promise<void> {
    while (!this.#hasEnded) await this.#change.promise;
  }

  #tell(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined; // it is kept as what it is
  }
}

/** On macOS, EPERM says that only such are in it as have ended already. */
function isGroupThere(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
