/**
 * A model of any provider, asked through pi. pi is used only to talk to providers; the loop, the journal, retries and the
 * form of a conversation are ours.
 */
import { createHash } from "node:crypto";

import type { SimpleStreamOptions } from "@earendil-works/pi-ai";

import type { AssistantBody } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { NO_USAGE } from "../../model/usage.ts";
import type { Model, Question } from "../agent.ts";
import { fellSilent, modelFailed, type ResponseFacts } from "./failure.ts";
import { type Backend, findCredentials, modelWindow, openBackend } from "./provider.ts";
import { AnswerStream, toContext } from "./translate.ts";

interface PiModelOptions {
  readonly environment: (name: string) => string | undefined;
  readonly clock: () => number;
  readonly idleTimeoutMs?: number;
}

/** How long a server may send nothing at all. Providers send pings while a model thinks. */
const IDLE_TIMEOUT_MS = 120_000;

export function createPiModel({
  environment,
  clock,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
}: PiModelOptions): Model {
  return { ask, window: modelWindow };

  async function ask(question: Question): Promise<AssistantBody> {
    const { profile, signal } = question;
    const backend = await openBackend(profile);
    const credentials = await findCredentials(profile, backend, environment);
    const [{ normalizeContext }, { parseJsonWithRepair }] = await Promise.all([
      import("@earendil-works/pi-ai/utils/transcript"),
      import("@earendil-works/pi-ai/utils/json-parse"),
    ]);
    const { baseUrl = backend.model.baseUrl } = credentials;
    const model = { ...backend.model, baseUrl };
    if (signal.aborted) return abortedBody(model);

    using watch = new ResponseWatch(signal, idleTimeoutMs);
    const stream = backend.streamSimple(model, normalizeContext(toContext(question)), {
      ...optionsOf(profile, question.session),
      env: { ...credentials.environment, ...profile.extraEnv },
      ...(credentials.apiKey !== undefined && { apiKey: credentials.apiKey }),
      headers: credentials.headers,
      signal: watch.signal,
      // Google's client accepts no custom fetch: for it, only pi's events show that data arrives.
      ...(!model.api.startsWith("google-") && { fetch: watch.fetch }),
    });
    const answer = new AnswerStream(
      (delta) => question.onDelta(delta),
      () => question.onProgress?.(),
    );
    for await (const event of stream) {
      watch.touch();
      answer.take(event);
    }
    const message = await stream.result();
    if (signal.aborted) message.stopReason = "aborted";
    else if (watch.fellSilent) throw fellSilent(profile, idleTimeoutMs);
    else if (message.stopReason === "error") {
      throw modelFailed(message, { profile, baseUrl, credentials, response: watch.response, nowMs: clock() });
    }
    return answer.finish(message, parseJsonWithRepair, backend.priced);
  }
}

function optionsOf({ thinking, extraOption }: Profile, session: SessionKey): SimpleStreamOptions {
  return {
    maxRetries: 0, // the queue retries
    sessionId: opaque(session),
    ...(thinking !== undefined && thinking !== "off" && { reasoning: thinking }),
    ...(extraOption !== undefined && { samplingParams: parsedValues(extraOption) }),
  };
}

/** Session keys contain people's ids, which are none of the provider's business. */
function opaque(session: SessionKey): string {
  return createHash("sha256").update(session).digest("hex").slice(0, 32);
}

/** The value in `{"top_p": "0.9"}` is meant as a number. */
function parsedValues(options: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, parsed(value)]));
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // a plain string
  }
}

function abortedBody({ provider, id, api }: Backend["model"]): AssistantBody {
  return { blocks: [], stop: "aborted", provider, model: id, api, usage: NO_USAGE, costUsd: null };
}

/** Observes the response beside pi: its status and headers, and a server that falls silent. */
class ResponseWatch implements Disposable {
  readonly response: ResponseFacts = {};
  readonly #idle = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborts with the caller's signal, and after the idle timeout. */
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal, idleTimeoutMs: number) {
    this.signal = AbortSignal.any([signal, this.#idle.signal]);
    this.#timer = setTimeout(() => this.#idle.abort(), idleTimeoutMs);
  }

  get fellSilent(): boolean {
    return this.#idle.signal.aborted;
  }

  /** Restarts the idle timeout: data has arrived. */
  readonly touch = (): void => {
    this.#timer.refresh();
  };

  /** The global fetch, observed. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    let response: Response;
    try {
      response = await globalThis.fetch(input, init);
    } catch (error) {
      this.response.networkError = error;
      throw error;
    }
    this.touch();
    const { status, statusText, headers, body } = response;
    Object.assign(this.response, { status, headers });
    if (body === null) return response;
    const watched = body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.touch();
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(watched, { status, statusText, headers });
  };

  /** Aborts a request that is still in progress. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#idle.abort();
  }
}
