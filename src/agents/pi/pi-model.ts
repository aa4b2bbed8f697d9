/**
 * A model of any provider, asked through pi. Of pi only this is used: how to speak to providers. The loop,
 * the journal, retries and what a conversation is are ours.
 */
import { createHash } from "node:crypto";

import type { SimpleStreamOptions } from "@earendil-works/pi-ai";

import type { AssistantBody } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { NO_USAGE } from "../../model/usage.ts";
import type { Model, Question } from "../agent.ts";
import { findCredentials } from "./credentials.ts";
import { fellSilent, modelFailed } from "./failure.ts";
import { Arriving } from "./from-pi.ts";
import { modelWindow, openBackend } from "./provider.ts";
import { toContext } from "./to-pi.ts";
import { IDLE_TIMEOUT_MS, Watch } from "./watch.ts";

interface PiModelParts {
  readonly environment: (name: string) => string | undefined;
  readonly clock: () => number;
  readonly idleTimeoutMs?: number;
}

export function createPiModel({ environment, clock, idleTimeoutMs = IDLE_TIMEOUT_MS }: PiModelParts): Model {
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
    if (signal.aborted) return nothingSaid(question, model.api);

    using watch = new Watch(signal, idleTimeoutMs);
    const stream = backend.streamSimple(model, normalizeContext(toContext(question)), {
      ...optionsOf(profile, question.session),
      env: { ...credentials.environment, ...profile.extraEnv },
      ...(credentials.apiKey !== undefined && { apiKey: credentials.apiKey }),
      headers: credentials.headers,
      signal: watch.signal,
      // Google's client cannot be given another fetch: there, pi's own events must do.
      ...(!model.api.startsWith("google-") && { fetch: watch.fetch }),
    });
    const answer = new Arriving(
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
      throw modelFailed(message, { profile, baseUrl, credentials, seen: watch.seen, nowMs: clock() });
    }
    return answer.finish(message, parseJsonWithRepair, backend.priced);
  }
}

function optionsOf({ thinking, extraOption }: Profile, session: SessionKey): SimpleStreamOptions {
  return {
    maxRetries: 0, // Whoever asks decides about asking again.
    sessionId: opaque(session),
    ...(thinking !== undefined && thinking !== "off" && { reasoning: thinking }),
    ...(extraOption !== undefined && { samplingParams: parsedValues(extraOption) }),
  };
}

/** Keys of sessions hold the ids of people, which are none of the provider's business. */
function opaque(session: SessionKey): string {
  return createHash("sha256").update(session).digest("hex").slice(0, 32);
}

/** `{"top_p": "0.9"}` is meant as a number. */
function parsedValues(options: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, parsed(value)]));
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // A word.
  }
}

function nothingSaid({ profile }: Question, api: string): AssistantBody {
  const { provider, model } = profile;
  return {
    blocks: [],
    stop: "aborted",
    provider: provider!,
    model: model!,
    api,
    usage: NO_USAGE,
    costUsd: null,
  };
}
