/**
 * A program under test: its input, its whole output, and how it ends. Unlike a real run, it records protocol violations
 * instead of failing on them. The program runs in its own process group, of which no process is left after disposal.
 */
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";

import { type ChildProcessWithoutNullStreams, launchPiped } from "../../programs/launch.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { type Fields, MAX_LINE_QUOTED } from "./fields.ts";
import { MAX_LINE_BYTES } from "./lines.ts";

const MAX_ERRORS_KEPT = 4_096;
/** Its output limits: more than any expected answer. */
const MAX_OUTPUT_BYTES = 2 * MAX_LINE_BYTES;
const MAX_OUTPUT_LINES = 100_000;
const LOOK_EVERY_MS = 20;

export type OutputLine =
  | { readonly kind: "message"; readonly type: unknown; readonly message: Fields }
  /** Not a JSON object. Only its start is kept. */
  | { readonly kind: "garbage"; readonly shown: string };

/** late: a timeout. ended: the program exited first. cut: its output exceeded the limits. */
export type ProbeReply = Extract<OutputLine, { kind: "message" }> | "late" | "ended" | "cut";

export interface ProbeOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export class Probe implements AsyncDisposable {
  readonly lines: OutputLine[] = [];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #group: number;
  #errors = "";
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;
  #outputBytes = 0;
  #isCut = false;
  #hasEnded = false;
  #isClosed = false;
  #change = Promise.withResolvers<void>();

  /** Rejects with the system's error if the program cannot be started. */
  static async start({ command: [file = "", ...args], environment }: ProbeOptions): Promise<Probe> {
    const child = launchPiped({ file, args, environment });
    await once(child, "spawn");
    if (child.pid === undefined) throw new Error("it has no process id");
    return new Probe(child, child.pid);
  }

  private constructor(child: ChildProcessWithoutNullStreams, group: number) {
    this.#child = child;
    this.#group = group;
    child.stdin.on("error", () => {}); // it need not read its input
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_ERRORS_KEPT);
    });
    child.once("exit", () => {
      this.#hasEnded = true;
      this.#notify();
    });
    child.once("close", () => {
      this.#isClosed = true;
      if (this.#unfinishedBytes > 0) this.#keepLine(Buffer.concat(this.#unfinished), "without a line feed");
      this.#notify();
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** How it ended, in words, with the end of its standard error. */
  get end(): string {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode === null ? `it exited with code ${exitCode}` : `it was killed by ${signalCode}`;
    const errors = this.#errors.trim().split("\n").slice(-3).join(" / ").slice(-MAX_LINE_QUOTED);
    return errors === "" ? how : `${how}; standard error: ${errors}`;
  }

  write(data: string | Buffer): void {
    this.#child.stdin.write(data);
  }

  send(message: object): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  /** Signals the whole group, as for real sub-agents. */
  signal(signal: NodeJS.Signals): void {
    if (groupExists(this.#group)) process.kill(-this.#group, signal);
  }

  /** The first message of one of these types, starting from a line. */
  async hear(types: readonly string[], ms: number, from = 0): Promise<ProbeReply> {
    const find = () =>
      this.lines.slice(from).find((line) => line.kind === "message" && types.includes(String(line.type)));
    await this.#until(() => find() !== undefined || this.#isClosed || this.#isCut, ms);
    const found = find();
    if (found?.kind === "message") return found;
    if (this.#isCut) return "cut";
    return this.#hasEnded ? "ended" : "late";
  }

  /** Reads until the end of its output, or a timeout. */
  async hearOut(ms: number): Promise<void> {
    await this.#until(() => this.#isClosed || this.#isCut, ms);
  }

  endsWithin(ms: number): Promise<boolean> {
    return this.#until(() => this.#hasEnded, ms);
  }

  /** Whether all processes of its group are gone before a timeout. */
  async isGoneWithin(ms: number): Promise<boolean> {
    for (let left = ms; groupExists(this.#group); left -= LOOK_EVERY_MS) {
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
    this.#outputBytes += chunk.length;
    const problem = this.#tooMuch();
    if (problem !== undefined) {
      this.#keepLine(Buffer.concat(this.#unfinished), problem);
      this.#isCut = true;
      this.#child.stdout.destroy();
    }
    this.#notify();
  }

  #tooMuch(): string | undefined {
    if (this.#unfinishedBytes > MAX_LINE_BYTES) return `in a line of more than ${MAX_LINE_BYTES} bytes`;
    if (this.#outputBytes > MAX_OUTPUT_BYTES) return `after more than ${MAX_OUTPUT_BYTES} bytes`;
    return this.lines.length > MAX_OUTPUT_LINES ? `after more than ${MAX_OUTPUT_LINES} lines` : undefined;
  }

  #keepLine(bytes: Buffer, problem?: string): void {
    this.#unfinished = [];
    this.#unfinishedBytes = 0;
    const message = problem === undefined ? parse(bytes) : undefined;
    if (message !== undefined) {
      this.lines.push({ kind: "message", type: message["type"], message });
      return;
    }
    const shown = JSON.stringify(bytes.subarray(0, MAX_LINE_QUOTED).toString());
    this.lines.push({ kind: "garbage", shown: problem === undefined ? shown : `${shown} ${problem}` });
  }

  async #until(holds: () => boolean, ms: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#notify();
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

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function parse(bytes: Buffer): Fields | undefined {
  try {
    const value: Json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // recorded as garbage
  }
}

/** On macOS, EPERM means that the group has only zombies. */
function groupExists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
