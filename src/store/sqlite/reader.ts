import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { CortexError, type ErrorCode } from "../../model/errors.ts";
import type { Row, SqlValue, Verdict } from "../store.ts";
import { storeClosed } from "./failure.ts";
import { moduleBeside } from "./module-beside.ts";

export type ReaderRequest =
  | {
      readonly id: number;
      readonly kind: "query";
      readonly sql: string;
      readonly params: readonly SqlValue[];
      readonly maxRows: number;
    }
  | { readonly id: number; readonly kind: "verify" };

export interface ReaderAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: CortexError) => void;
}

/**
 * Hands slow reads to a process and ends that process when a query outlives its deadline. It is started
 * when it is first needed. A query that shares it with one that had to be stopped is asked again.
 */
export class Reader {
  readonly #path: string;
  #child: ChildProcess | undefined;
  readonly #waiting = new Map<number, Waiting & { readonly request: ReaderRequest }>();
  #lastId = 0;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
  }

  query(
    sql: string,
    params: readonly SqlValue[],
    options: { maxRows: number; deadlineMs: number },
  ): Promise<Row[]> {
    const { maxRows, deadlineMs } = options;
    const id = ++this.#lastId;
    const deadline = setTimeout(() => this.#expire(id, deadlineMs), deadlineMs);
    const answer = this.#ask<Row[]>({ id, kind: "query", sql, params, maxRows });
    return answer.finally(() => clearTimeout(deadline));
  }

  /** In a process of its own, so that it holds up no query. */
  async verify(): Promise<Verdict> {
    const reader = new Reader(this.#path);
    try {
      return await reader.#ask<Verdict>({ id: 1, kind: "verify" });
    } finally {
      await reader.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(storeClosed(this.#path));
    this.#waiting.clear();
    await this.#kill();
  }

  #ask<T>(request: ReaderRequest): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed(this.#path));
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { request, resolve, reject });
      this.#open().send(request);
    });
  }

  #open(): ChildProcess {
    if (this.#child !== undefined) return this.#child;
    const program = fileURLToPath(moduleBeside(import.meta.url, "reader-process"));
    const child = fork(program, [this.#path], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
    });
    child.on("message", (answer: ReaderAnswer) => this.#receive(answer));
    child.on("exit", () => this.#lose(child));
    this.#child = child;
    return child;
  }

  #receive({ id, value, error }: ReaderAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value as never);
    else waiting?.reject(new CortexError(error.code, error.message, { hint: error.hint }));
  }

  #expire(id: number, deadlineMs: number): void {
    const expired = this.#waiting.get(id);
    if (expired === undefined) return;
    this.#waiting.delete(id);
    expired.reject(
      new CortexError("query_timeout", `The query took longer than ${deadlineMs} ms and was stopped`, {
        hint: "Narrow it down, for example by `timestamp`, or give it a longer deadline.",
      }),
    );
    void this.#kill();
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
    this.#askAgain();
  }

  /** A child that ends by itself has failed to start: asking again would fail again. */
  #lose(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#waiting.values()) reject(readerLost());
    this.#waiting.clear();
  }

  #askAgain(): void {
    for (const { request } of this.#waiting.values()) this.#open().send(request);
  }
}

function readerLost(): CortexError {
  return new CortexError("store_closed", "The process that answers queries has ended", {
    hint: "Ask again; if it happens again, its error is in the log above.",
    transient: true,
  });
}
