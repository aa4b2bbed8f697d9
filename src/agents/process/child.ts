/**
 * A program that runs as a sub-agent, in its own process group, of which no process is left at the end.
 *
 * Every wait for it is bounded. Its standard error is read continuously, so that a noisy program does not block; the end
 * of it is quoted in errors.
 */
import { once } from "node:events";
import type { Readable } from "node:stream";

import type { ProgramWatch } from "../../model/bounds.ts";
import { hasCode } from "../../model/error-code.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import { type ChildProcessWithoutNullStreams, launchPiped, type Program } from "../../programs/launch.ts";
import type { LineReader } from "../../programs/lines.ts";
import { signalGroup, within } from "../../programs/run-group.ts";
import { MAX_LINE_BYTES, readLines, writeLine } from "./lines.ts";
import {
  type ChildLine,
  type ParentLine,
  parseChildLine,
  PROTOCOL_VERSION,
  type ToolRequest,
} from "./protocol.ts";

export interface ChildTimes {
  /** From its start or `init` to `ready`. */
  readonly readyMs: number;
  /** From `cancel` to the end of its work. */
  readonly cancelMs: number;
  /** From the end of its input to its exit. */
  readonly exitMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly termMs: number;
  /** From SIGKILL until we give up; and from its exit to the end of its output, which others may hold open. */
  readonly killMs: number;
}

export const CHILD_TIMES: ChildTimes = {
  readyMs: 10_000,
  cancelMs: 1_000,
  exitMs: 1_000,
  termMs: 2_000,
  killMs: 1_000,
};

/** How much a child may leave unread: more than any line. */
const MAX_UNREAD_BYTES = 2 * MAX_LINE_BYTES;

interface ChildProgram extends Program {
  readonly folder: string;
  /** Ends what leaves the process group. */
  readonly watch?: ProgramWatch | undefined;
}

export class Child {
  readonly pid: number;
  /** Resolves when the program has exited, with everything it has started. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #times: ChildTimes;
  readonly #lines: LineReader;
  readonly #stderr: StderrTail;
  /** Aborts when it has exited. */
  readonly #gone = new AbortController();
  #nextLine: Promise<{ readonly line: string | undefined }> | undefined;
  #version = 1;

  /** Rejects with `sub_agent_failed` if the program cannot be started. */
  static async start({ watch, ...program }: ChildProgram, times: ChildTimes): Promise<Child> {
    try {
      const environment = { ...program.environment, ...watch?.environment };
      const started = launchPiped({ ...program, environment });
      await once(started, "spawn");
      if (started.pid === undefined) throw new Error("It has no process id");
      watch?.begin(started.pid);
      return new Child(started, { pid: started.pid, watch }, times);
    } catch (cause) {
      await watch?.end(0);
      throw notStarted(program.file, program.folder, cause);
    }
  }

  private constructor(
    started: ChildProcessWithoutNullStreams,
    { pid, watch }: { readonly pid: number; readonly watch: ProgramWatch | undefined },
    times: ChildTimes,
  ) {
    this.#process = started;
    this.#times = times;
    this.pid = pid;
    this.#lines = readLines(started.stdout);
    this.#stderr = new StderrTail(started.stderr);
    started.stdin.on("error", () => {}); // it need not read; its next line or exit tells what happened
    this.exited = new Promise((resolve) => {
      started.once("exit", () => {
        // Its own children have no purpose any more, and may hold its output open.
        signalGroup(this.pid, "SIGKILL");
        this.#gone.abort();
        resolve(watch?.end(0));
      });
    });
  }

  get hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Whether it understands messages other than `init`. */
  get hasFullProtocol(): boolean {
    return this.#version > 1;
  }

  /** The next line, if it was already read and is a tool request. */
  takeRequest(): ToolRequest | undefined {
    const { waiting } = this.#lines;
    if (this.#nextLine !== undefined || waiting === undefined) return undefined;
    const line = this.#parse(waiting);
    if (line.type !== "tool_request") return undefined;
    this.#lines.drop();
    return line;
  }

  /** Throws `sub_agent_failed` if the line is too long, or the program does not read. */
  send(line: ParentLine): void {
    const { stdin } = this.#process;
    if (!stdin.writable) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) throw this.failed("does not read its input", false);
    writeLine(stdin, line);
  }

  /** Sends work and waits until the program is ready. False: aborted. */
  async begin(init: ParentLine & { readonly type: "init" }, signal: AbortSignal): Promise<boolean> {
    this.send(init);
    const { readyMs } = this.#times;
    let line = await this.next(readyMs, signal);
    // The late answer to a ping during its previous work.
    while (typeof line === "object" && line.type === "pong") line = await this.next(readyMs, signal);
    if (line === "aborted") return false;
    if (line === "late") throw this.failed(`was not ready within ${readyMs / 1000} s`, true);
    if (line.type === "error") throw this.failed(`could not start: ${line.error}`, line.transient ?? false);
    if (line.type !== "ready") throw this.failed(`sent "${line.type}" before it was ready`, false);
    if (line.version < 1 || line.version > PROTOCOL_VERSION)
      throw this.failed(`speaks protocol version ${line.version}, expected 1 or ${PROTOCOL_VERSION}`, false);
    this.#version = line.version;
    this.checkId(line, init.config.id);
    return true;
  }

  /** The next line. Rejects with `sub_agent_failed` if there is none, or it violates the protocol. */
  async next(waitMs: number, ...signals: readonly AbortSignal[]): Promise<ChildLine | "late" | "aborted"> {
    this.#nextLine ??= this.#lines.next().then((line) => ({ line }));
    const outcome = await this.#await(this.#nextLine, waitMs, signals);
    if (outcome === "late" || outcome === "aborted") return outcome;
    if (outcome.line === undefined) throw await this.#exitFailure();
    this.#nextLine = undefined;
    return this.#parse(outcome.line);
  }

  async #await<T>(nextLine: Promise<T>, waitMs: number, signals: readonly AbortSignal[]) {
    try {
      const outcome = await within(nextLine, waitMs, ...signals, this.#gone.signal);
      if (outcome !== "aborted" || signals.some(({ aborted }) => aborted)) return outcome;
      // It has exited: its last output has arrived, but other processes may hold the pipe open.
      const last = await within(nextLine, this.#times.killMs, ...signals);
      if (last !== "late") return last;
    } catch (cause) {
      throw this.#withStderr(cause);
    }
    throw await this.#exitFailure();
  }

  /** Lines may contain the id of the work they belong to. */
  checkId(line: { readonly id?: string | undefined }, id: string): void {
    if (line.id === undefined || line.id === id) return;
    throw this.failed(`sent the id "${line.id}", expected "${id}"`, false);
  }

  failed(what: string, transient: boolean): CortexError {
    return new CortexError("sub_agent_failed", `The sub-agent ${what}${this.#stderr.described}`, {
      hint: "Test the program with `cortex sub-agent check`; see docs/sub-agents.md.",
      transient,
    });
  }

  /**
   * Ends the program with everything it started. A busy program gets SIGTERM at once; an idle one first gets the end of its
   * input.
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

  async #exitFailure(): Promise<CortexError> {
    await within(this.exited, this.#times.killMs);
    const { exitCode, signalCode } = this.#process;
    if (!this.hasExited) return this.failed("closed its output before it was done", true);
    const how = signalCode === null ? `exited with code ${exitCode}` : `was killed by ${signalCode}`;
    return this.failed(`${how} before it was done`, true);
  }

  #parse(line: string): ChildLine {
    try {
      return parseChildLine(line);
    } catch (cause) {
      throw this.#withStderr(cause);
    }
  }

  /** The problem of a line, with the program's standard error. */
  #withStderr(cause: unknown): CortexError {
    if (!(cause instanceof CortexError)) return this.failed(`cannot be read: ${String(cause)}`, true);
    const { code, hint, message, transient } = cause;
    return new CortexError(code, `${message}${this.#stderr.described}`, { hint, transient, cause });
  }
}

function notStarted(file: string, folder: string, cause: unknown): CortexError {
  return new CortexError("sub_agent_failed", `Cannot start ${file} in ${folder}: ${errorText(cause)}`, {
    hint: "Check the `command` of the type in `subAgents.types`, and that the program exists.",
    transient: hasCode(cause, "EAGAIN", "EMFILE", "ENFILE", "ENOMEM"), // the machine is out of resources
    cause,
  });
}

/** How much of a program's standard error is kept. */
export const MAX_STDERR_BYTES = 64 * 1024;
/** How much of that is quoted in an error. */
const MAX_QUOTED_LENGTH = 2_000;

/** The end of a program's standard error, read as fast as it arrives. */
export class StderrTail {
  #kept: Buffer = Buffer.alloc(0);

  constructor(stderr: Readable) {
    stderr.on("data", (chunk: Buffer) => {
      this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-MAX_STDERR_BYTES);
    });
    stderr.on("error", () => {}); // we closed it
  }

  /** Ends a sentence of an error. Empty if the program wrote nothing. */
  get described(): string {
    const text = this.#kept.toString("utf8").trim();
    if (text === "") return "";
    return `. Standard error: ${text.length > MAX_QUOTED_LENGTH ? `…${text.slice(-MAX_QUOTED_LENGTH)}` : text}`;
  }

  get bytes(): number {
    return this.#kept.length;
  }
}
