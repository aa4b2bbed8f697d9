/**
 * A program that runs as a sub-agent: in a process group of its own, of which nothing is left when it is over.
 *
 * Whatever it does, nobody waits for it without a bound. What it writes to its standard error is read all the
 * time, or a program that complains much would stand still; the last of it is told where it fails.
 */
import { once } from "node:events";
import type { Readable } from "node:stream";

import { CortexError } from "../../model/errors.ts";
import { type ChildProcessWithoutNullStreams, launchPiped, type Program } from "../../programs/launch.ts";
import { signalGroup, within } from "../../programs/run-group.ts";
import { LineReader, MAX_LINE_BYTES, writeLine } from "./lines.ts";
import {
  type ChildLine,
  type ParentLine,
  parseChildLine,
  PROTOCOL_VERSION,
  type ToolRequest,
} from "./protocol.ts";

export interface ChildTimes {
  /** From its start, or from being given work, to `ready`. */
  readonly readyMs: number;
  /** From `cancel` to the end of its work. */
  readonly cancelMs: number;
  /** From the end of its input to its own end. */
  readonly exitMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly termMs: number;
  /** From SIGKILL until we stop looking; and from its end to the end of its output, which others may hold open. */
  readonly killMs: number;
}

export const CHILD_TIMES: ChildTimes = {
  readyMs: 10_000,
  cancelMs: 1_000,
  exitMs: 1_000,
  termMs: 2_000,
  killMs: 1_000,
};

/** What a child may leave unread: more than any line. */
const MAX_UNREAD_BYTES = 2 * MAX_LINE_BYTES;

export class Child {
  readonly pid: number;
  /** Resolves when the program has ended. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #times: ChildTimes;
  readonly #lines: LineReader;
  readonly #stderr: StderrTail;
  /** Aborts when it has ended. */
  readonly #gone = new AbortController();
  #coming: Promise<{ readonly line: string | undefined }> | undefined;
  #version = 1;

  /** Rejects with `sub_agent_failed` where there is no such program. */
  static async start(program: Program & { readonly folder: string }, times: ChildTimes): Promise<Child> {
    try {
      const started = launchPiped(program);
      await once(started, "spawn");
      return new Child(started, times);
    } catch (cause) {
      throw notStarted(program.file, program.folder, cause);
    }
  }

  private constructor(started: ChildProcessWithoutNullStreams, times: ChildTimes) {
    this.#process = started;
    this.#times = times;
    this.pid = started.pid!;
    this.#lines = new LineReader(started.stdout);
    this.#stderr = new StderrTail(started.stderr);
    started.stdin.on("error", () => {}); // it need not read: what is heard of it next says what became of it
    this.exited = new Promise((resolve) => {
      started.once("exit", () => {
        // Its own children have nobody left to work for, and may hold its output open.
        signalGroup(this.pid, "SIGKILL");
        this.#gone.abort();
        resolve();
      });
    });
  }

  get hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Whether it knows more than `init`. */
  get understands(): boolean {
    return this.#version > 1;
  }

  /** A request for a tool that was read already and comes next. */
  takeRequest(): ToolRequest | undefined {
    const { waiting } = this.#lines;
    if (this.#coming !== undefined || waiting === undefined) return undefined;
    const line = this.#parse(waiting);
    if (line.type !== "tool_request") return undefined;
    this.#lines.drop();
    return line;
  }

  /** Throws `sub_agent_failed` where it is too long, or where the program reads nothing. */
  send(line: ParentLine): void {
    const { stdin } = this.#process;
    if (!stdin.writable) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) throw this.failed("does not read what it is sent", false);
    writeLine(stdin, line);
  }

  /** Gives it work, and waits until it has taken it. False: that was aborted. */
  async begin(init: ParentLine & { readonly type: "init" }, signal: AbortSignal): Promise<boolean> {
    this.send(init);
    const { readyMs } = this.#times;
    let line = await this.next(readyMs, signal);
    // The answer to the last ping before its last work was done.
    while (typeof line === "object" && line.type === "pong") line = await this.next(readyMs, signal);
    if (line === "aborted") return false;
    if (line === "late") throw this.failed(`was not ready within ${readyMs / 1000} s`, true);
    if (line.type === "error") throw this.failed(`could not begin: ${line.error}`, line.transient ?? false);
    if (line.type !== "ready") throw this.failed(`sent "${line.type}" before it was ready`, false);
    if (line.version < 1 || line.version > PROTOCOL_VERSION)
      throw this.failed(
        `speaks version ${line.version} of the protocol, and not 1 or ${PROTOCOL_VERSION}`,
        false,
      );
    this.#version = line.version;
    this.checkId(line, init.config.id);
    return true;
  }

  /** What it sends next. Rejects with `sub_agent_failed` where that is nothing, or not of the protocol. */
  async next(waitMs: number, ...signals: readonly AbortSignal[]): Promise<ChildLine | "late" | "aborted"> {
    this.#coming ??= this.#lines.next().then((line) => ({ line }));
    const came = await this.#await(this.#coming, waitMs, signals);
    if (came === "late" || came === "aborted") return came;
    if (came.line === undefined) throw await this.#ended();
    this.#coming = undefined;
    return this.#parse(came.line);
  }

  async #await<T>(coming: Promise<T>, waitMs: number, signals: readonly AbortSignal[]) {
    try {
      const came = await within(coming, waitMs, ...signals, this.#gone.signal);
      if (came !== "aborted" || signals.some(({ aborted }) => aborted)) return came;
      // It has ended: the last that it wrote is there, but others may hold its output open.
      const last = await within(coming, this.#times.killMs, ...signals);
      if (last !== "late") return last;
    } catch (cause) {
      throw this.#told(cause);
    }
    throw await this.#ended();
  }

  /** A line may say whose it is. */
  checkId(line: { readonly id?: string | undefined }, id: string): void {
    if (line.id === undefined || line.id === id) return;
    throw this.failed(`says that it is "${line.id}", and it is "${id}"`, false);
  }

  failed(what: string, transient: boolean): CortexError {
    return new CortexError("sub_agent_failed", `The sub-agent ${what}${this.#stderr.described}`, {
      hint: "`cortex sub-agent check` tries a program; docs/sub-agents.md has more.",
      transient,
    });
  }

  /**
   * Ends it with all that it started. One that is at work is told to end at once; one that is not is only no
   * longer spoken to, at first.
   */
  async stop({ isAtWork }: { readonly isAtWork: boolean }): Promise<void> {
    const { exitMs, termMs, killMs } = this.#times;
    this.#process.stdin.end();
    if (!isAtWork) await within(this.exited, exitMs);
    if (!this.hasExited) signalGroup(this.pid, "SIGTERM");
    await within(this.exited, termMs);
    if (!this.hasExited) signalGroup(this.pid, "SIGKILL");
    await within(this.exited, killMs);
    this.#process.stdout.destroy();
    this.#process.stderr.destroy();
  }

  async #ended(): Promise<CortexError> {
    await within(this.exited, this.#times.killMs);
    const { exitCode, signalCode } = this.#process;
    if (!this.hasExited) return this.failed("closed its output before it was done", true);
    const how = signalCode === null ? `with ${exitCode}` : `by ${signalCode}`;
    return this.failed(`ended ${how} before it was done`, true);
  }

  #parse(line: string): ChildLine {
    try {
      return parseChildLine(line);
    } catch (cause) {
      throw this.#told(cause);
    }
  }

  /** What is wrong with a line, and what the program says about that. */
  #told(cause: unknown): CortexError {
    if (!(cause instanceof CortexError)) return this.failed(`cannot be heard: ${String(cause)}`, true);
    const { code, hint, message, transient } = cause;
    return new CortexError(code, `${message}${this.#stderr.described}`, { hint, transient, cause });
  }
}

/** The machine has no more of something. */
const NO_ROOM: ReadonlySet<unknown> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

function notStarted(file: string, folder: string, cause: unknown): CortexError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return new CortexError("sub_agent_failed", `The program ${file} cannot be started in ${folder}: ${why}`, {
    hint: "Check the `command` of the type in `subAgents.types`, and that the program is there.",
    transient: NO_ROOM.has(code),
    cause,
  });
}

/** How much is kept of what a program writes to its standard error. */
export const MAX_STDERR_BYTES = 64 * 1024;
/** How much of that an error tells. */
const MAX_TOLD = 2_000;

/** The end of what a program writes to its standard error. It is read as fast as it comes. */
export class StderrTail {
  #kept: Buffer = Buffer.alloc(0);

  constructor(stderr: Readable) {
    stderr.on("data", (chunk: Buffer) => {
      this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-MAX_STDERR_BYTES);
    });
    stderr.on("error", () => {}); // it was closed on our side
  }

  /** For the end of a sentence; empty where there is nothing. */
  get described(): string {
    const text = this.#kept.toString("utf8").trim();
    if (text === "") return "";
    return `. Its standard error: ${text.length > MAX_TOLD ? `…${text.slice(-MAX_TOLD)}` : text}`;
  }

  get bytes(): number {
    return this.#kept.length;
  }
}
