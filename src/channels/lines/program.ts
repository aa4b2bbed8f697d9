/**
 * One run of a channel's program: its hello, the requests that wait for an answer, and its end. No process of it is left
 * behind; what it writes to standard error ends up in the log.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import type { ProgramWatch } from "../../model/bounds.ts";
import type { Json } from "../../model/json.ts";
import { reveal } from "../../model/reveal.ts";
import { type ChildProcessWithoutNullStreams, launchPiped, type Program } from "../../programs/launch.ts";
import { LineReader } from "../../programs/lines.ts";
import { signalGroup, within } from "../../programs/run-group.ts";
import { deliveryFailed, deliveryRefused, deliveryUncertain } from "../channel.ts";
import { type Hello, hello, MAX_LINE_BYTES, type ProgramLine, programLine } from "./protocol.ts";

const HELLO_MS = 15_000;
/** From the end of its input to SIGTERM, and from there to SIGKILL. */
const GRACE_MS = 2_000;
const MAX_LOGGED_LENGTH = 2_000;
/** A program that reads nothing is not given more. */
const MAX_UNREAD_BYTES = 8 * MAX_LINE_BYTES;

export interface ChannelProgram extends Program {
  readonly watch: ProgramWatch;
  readonly log: (line: string) => void;
}

interface Waiting {
  readonly resolve: (value: Json) => void;
  readonly reject: (error: unknown) => void;
  readonly chunk: (content: Buffer) => void;
}

/** What a line other than an answer says. */
export type Said = Exclude<ProgramLine, { readonly id: number }>;

export class RunningProgram implements AsyncDisposable {
  readonly hello: Hello;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: LineReader;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<unknown>;
  readonly #watch: ProgramWatch;
  #nextId = 1;
  #isOver = false;

  private constructor(
    started: ChildProcessWithoutNullStreams,
    lines: LineReader,
    { greeting, exited, watch }: { greeting: Hello; exited: Promise<unknown>; watch: ProgramWatch },
  ) {
    this.#process = started;
    this.#lines = lines;
    this.hello = greeting;
    this.#exited = exited;
    this.#watch = watch;
  }

  /** Throws an error for the owner: it could not be started, or says no valid hello. */
  static async start({ watch, log, ...program }: ChannelProgram): Promise<RunningProgram> {
    const environment = { ...program.environment, ...watch.environment };
    const started = launchPiped({ ...program, environment });
    const exited = once(started, "exit");
    exited.catch(() => {}); // its start is what tells
    try {
      await once(started, "spawn");
    } catch (error) {
      await watch.end(0);
      throw new Error(`The program ${program.file} could not be started`, { cause: error });
    }
    watch.begin(started.pid!);
    started.stdin.on("error", () => {}); // it need not read: its end tells what happened
    started.stderr.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8").trim().slice(0, MAX_LOGGED_LENGTH);
      if (text !== "") log(reveal(text));
    });
    const lines = new LineReader(started.stdout, { maxBytes: MAX_LINE_BYTES, unreadable });
    try {
      const line = await within(lines.next(), HELLO_MS);
      if (line === undefined || line === "late" || line === "aborted")
        throw new Error(`The program said no hello within ${HELLO_MS / 1_000} s`);
      const greeting = parseLine(z.object({ hello }), line).hello;
      return new RunningProgram(started, lines, { greeting, exited, watch });
    } catch (error) {
      await end(started, exited, watch);
      throw error;
    }
  }

  /** Everything but answers, until it ends. Throws what makes its output useless. */
  async *said(): AsyncGenerator<Said> {
    try {
      for (;;) {
        const line = await this.#lines.next();
        if (line === undefined) return;
        const parsed = parseLine(programLine, line);
        if ("id" in parsed) this.#answer(parsed);
        else yield parsed;
      }
    } finally {
      this.#isOver = true;
      for (const { reject } of this.#waiting.values()) reject(gone());
      this.#waiting.clear();
    }
  }

  tell(value: object): void {
    const { stdin } = this.#process;
    const line = `${JSON.stringify(value)}\n`;
    if (Buffer.byteLength(line) > MAX_LINE_BYTES) throw new Error("A line for the program would be too long");
    if (stdin.writableLength > MAX_UNREAD_BYTES) throw gone();
    if (stdin.writable) stdin.write(line);
  }

  /** Asks for something and waits for the answer. What an abort leaves is uncertain. */
  async ask(
    request: string,
    params: object,
    {
      signal,
      chunk = () => {},
    }: { readonly signal: AbortSignal; readonly chunk?: (content: Buffer) => void },
  ): Promise<Json> {
    if (this.#isOver)
      throw deliveryFailed("The program of the channel is not running", { hint: "It is started again." });
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    this.#waiting.set(id, { resolve, reject, chunk });
    const abort = (): void => {
      if (!this.#isOver) this.#process.stdin.write(`${JSON.stringify({ cancel: id })}\n`);
      reject(
        deliveryUncertain("The program of the channel did not answer in time", {
          hint: "It may have been done.",
        }),
      );
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      if (signal.aborted) abort();
      else this.tell({ id, [request]: params });
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#waiting.delete(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#process, this.#exited, this.#watch);
  }

  /** Late answers have nobody who waits. */
  #answer(line: Extract<ProgramLine, { readonly id: number }>): void {
    const waiting = this.#waiting.get(line.id);
    if ("chunk" in line) waiting?.chunk(Buffer.from(line.chunk, "base64"));
    else if ("ok" in line) waiting?.resolve(line.ok);
    else waiting?.reject(errorOf(line.error));
  }
}

function errorOf({
  kind,
  message,
  ...options
}: Extract<ProgramLine, { readonly error: object }>["error"]): Error {
  switch (kind) {
    case "refused":
      return deliveryRefused(message, options);
    case "failed":
      return deliveryFailed(message, options);
    case "uncertain":
      return deliveryUncertain(message, options);
  }
}

function parseLine<Output>(schema: z.ZodType<Output>, line: string): Output {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw unreadable("not JSON", line);
  }
  const { data, error } = schema.safeParse(value);
  if (error !== undefined) throw unreadable(z.prettifyError(error).replaceAll(/\s+/g, " "), line);
  return data;
}

const MAX_QUOTED_LENGTH = 200;

function unreadable(why: string, line = ""): Error {
  const quoted = line === "" ? "" : `: ${reveal(line.slice(0, MAX_QUOTED_LENGTH))}`;
  return new Error(`The program of the channel wrote an invalid line (${why})${quoted}`);
}

function gone(): Error {
  return deliveryUncertain("The program of the channel ended during the request", {
    hint: "It may have been done.",
  });
}

async function end(
  started: ChildProcessWithoutNullStreams,
  exited: Promise<unknown>,
  watch: ProgramWatch,
): Promise<void> {
  started.stdin.end();
  const group = started.pid!;
  if ((await within(exited, GRACE_MS)) === "late") {
    signalGroup(group, "SIGTERM");
    await Promise.race([exited, pause(GRACE_MS)]);
  }
  signalGroup(group, "SIGKILL");
  started.stdout.destroy();
  await watch.end(0);
}
