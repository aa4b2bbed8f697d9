import { fileURLToPath } from "node:url";

import { CortexError, type ErrorCode } from "../../model/errors.ts";
import { type ChildProcess, launchModule } from "../../programs/launch.ts";
import type { Prunable, Row, SearchHit, SqlValue, Verdict } from "../store.ts";
import { storeClosed } from "./failure.ts";
import { ownModule } from "../../model/own-files.ts";
import type { SearchRequest } from "./search-events.ts";

export type ReaderRequest =
  | {
      readonly kind: "query";
      readonly sql: string;
      readonly params: readonly SqlValue[];
      readonly maxRows: number;
    }
  | { readonly kind: "search"; readonly request: SearchRequest }
  | { readonly kind: "prunable"; readonly beforeMs: number }
  | { readonly kind: "verify" };

export interface ReaderAnswer {
  readonly value?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
}

interface Waiting {
  readonly request: ReaderRequest;
  readonly deadlineMs: number | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: CortexError) => void;
}

/**
 * Passes slow reads to a process, one at a time, and kills that process when a query exceeds its deadline, counted
 * from when the query starts. The process is started on first use.
 */
export class Reader {
  readonly #path: string;
  readonly #queue: Waiting[] = [];
  #current: Waiting | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #child: ChildProcess | undefined;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
  }

  query(
    sql: string,
    params: readonly SqlValue[],
    { maxRows, deadlineMs }: { maxRows: number; deadlineMs: number },
  ): Promise<Row[]> {
    return this.#ask<Row[]>({ kind: "query", sql, params, maxRows }, deadlineMs);
  }

  search(request: SearchRequest, deadlineMs: number): Promise<SearchHit[]> {
    return this.#ask<SearchHit[]>({ kind: "search", request }, deadlineMs);
  }

  verify(): Promise<Verdict> {
    return this.#askApart<Verdict>({ kind: "verify" });
  }

  prunable(beforeMs: number): Promise<Prunable> {
    return this.#askApart<Prunable>({ kind: "prunable", beforeMs });
  }

  /** Uses a separate process, so that it delays no query, however long it takes. */
  async #askApart<T>(request: ReaderRequest): Promise<T> {
    const reader = new Reader(this.#path);
    try {
      return await reader.#ask<T>(request, undefined);
    } finally {
      await reader.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.splice(0)) reject(storeClosed(this.#path));
    this.#settle()?.reject(storeClosed(this.#path));
    await this.#kill();
  }

  #ask<T>(request: ReaderRequest, deadlineMs: number | undefined): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed(this.#path));
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, deadlineMs, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined || this.#closed) return;
    const waiting = this.#queue.shift();
    if (waiting === undefined) return;
    this.#current = waiting;
    const { request, deadlineMs } = waiting;
    if (deadlineMs !== undefined) this.#deadline = setTimeout(() => this.#expire(deadlineMs), deadlineMs);
    try {
      this.#child ??= this.#open();
      this.#child.send(request);
    } catch (cause) {
      this.#settle()?.reject(failed("it could not be sent to the query process", cause));
      this.#next();
    }
  }

  #open(): ChildProcess {
    const path = fileURLToPath(ownModule("store/sqlite/reader-process"));
    const child = launchModule({ path, args: [this.#path], output: "ignore" });
    child.on("message", (answer: ReaderAnswer) => this.#receive(answer));
    child.on("error", (cause) => this.#lose(child, cause));
    child.on("exit", (code) => this.#lose(child, new Error(`it exited with ${code}`)));
    return child;
  }

  #receive({ value, error }: ReaderAnswer): void {
    const waiting = this.#settle();
    if (error === undefined) waiting?.resolve(value as never);
    else waiting?.reject(new CortexError(error.code, error.message, { hint: error.hint }));
    this.#next();
  }

  #expire(deadlineMs: number): void {
    this.#settle()?.reject(
      new CortexError("query_timeout", `The query exceeded ${deadlineMs} ms and was stopped`, {
        hint: "Narrow it down, for example by `timestamp`, or set a longer deadline.",
      }),
    );
    void this.#kill();
    this.#next();
  }

  /** Ends the current query and returns it. */
  #settle(): Waiting | undefined {
    clearTimeout(this.#deadline);
    const waiting = this.#current;
    this.#current = undefined;
    return waiting;
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  #lose(child: ChildProcess, cause: unknown): void {
    if (this.#child !== child) return; // it was ended on purpose
    this.#child = undefined;
    this.#settle()?.reject(failed("the query process has exited", cause));
    this.#next();
  }
}

function failed(why: string, cause: unknown): CortexError {
  return new CortexError("query_failed", `The query failed: ${why}`, {
    hint: "Retry; if it fails again, check the log.",
    transient: true,
    cause,
  });
}
