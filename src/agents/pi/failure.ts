/** Turns a provider's failure into an error that names the provider, quotes it, and says whether to retry. */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isContextOverflow } from "@earendil-works/pi-ai/utils/overflow";

import { codeOf } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { ProviderCredentials } from "./provider.ts";

/** How much of a provider's own message is quoted. */
export const MAX_WORDS = 500;

/** What was observed of the HTTP response. pi reports a failure only as a sentence. */
export interface ResponseFacts {
  status?: number;
  headers?: Headers;
  /** Why there was no response. */
  networkError?: unknown;
}

interface FailedRequest {
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly credentials: ProviderCredentials;
  readonly response: ResponseFacts;
  readonly nowMs: number;
}

/** The failure of a request, from pi's report and from the HTTP response. */
export function modelFailed(report: AssistantMessage, request: FailedRequest): CortexError {
  const { profile, credentials, response } = request;
  const reported = report.errorMessage ?? "no reason given";
  const status = response.status ?? statusIn(reported);
  const failedStatus = status !== undefined && status >= 400 ? status : undefined;
  const own = response.networkError === undefined ? ownWords(reported) : reasonOf(response.networkError);
  const words = trimmed(withoutSecrets(own, credentials.secrets));
  // A rate limit on tokens per minute is worded like an overflow, but the conversation is not too long.
  const kind =
    failedStatus !== 429 && isContextOverflow(report)
      ? "overflow"
      : classify(failedStatus, reported, report.rawStopReason ?? "");
  return new CortexError(
    kind === "overflow" ? "context_overflow" : "model_failed",
    `${profile.provider} failed with ${profile.model}${failedStatus === undefined ? "" : ` (${failedStatus})`}: ${words}`,
    {
      hint: HINTS[kind](request),
      transient: kind === "busy" || kind === "unreachable",
      retryAfterMs: retryDelay(response.headers, reported, request.nowMs),
    },
  );
}

export function fellSilent(profile: Profile, idleTimeoutMs: number): CortexError {
  return new CortexError(
    "model_failed",
    `${profile.provider} timed out with ${profile.model}: no data for ${idleTimeoutMs / 1000} s`,
    {
      hint: "Check that the server is running; a local model may need a shorter conversation.",
      transient: true,
    },
  );
}

type Kind = "busy" | "unreachable" | "unpaid" | "forbidden" | "missing" | "refused" | "overflow";

const BUSY_STATUSES = new Set([408, 409, 425, 429]);
/** The stop reasons of providers that declined to answer. */
const DECLINED = /content_filter|refusal|sensitive|safety|blocklist|prohibited|spii|recitation/i;

/** An answer that broke off may succeed on retry, unless the provider declined to give it. */
function classify(status: number | undefined, reported: string, ended: string): Exclude<Kind, "overflow"> {
  if (status === 402 || (status === 429 && /insufficient_quota|billing/i.test(reported))) return "unpaid";
  if (status === 401 || status === 403) return "forbidden";
  if (status === 404) return "missing";
  if (status !== undefined) return status >= 500 || BUSY_STATUSES.has(status) ? "busy" : "refused";
  if (/overloaded|rate_limit/i.test(reported)) return "busy";
  return DECLINED.test(ended) || /invalid_(request|prompt)/.test(reported) ? "refused" : "unreachable";
}

const HINTS: Readonly<Record<Kind, (request: FailedRequest) => string>> = {
  busy: () => "The provider is overloaded or rate-limiting you: try again later.",
  unreachable: ({ baseUrl, profile }) =>
    `Check that the server at ${URL.parse(baseUrl)?.origin ?? profile.provider} is running and reachable.`,
  unpaid: ({ profile }) => `Check the credit balance of your account at ${profile.provider}.`,
  forbidden: ({ profile, credentials }) =>
    credentials.variable === undefined
      ? `The server requires a key: set \`apiKeyEnv\` of the profile "${profile.name}" to the variable that holds it.`
      : `Check the key in ${credentials.variable}.`,
  missing: ({ profile }) => `Check \`model\` and \`baseUrl\` of the profile "${profile.name}".`,
  overflow: ({ profile }) =>
    `The conversation is shortened automatically; \`contextWindow\` of the profile "${profile.name}" may be too large.`,
  refused: ({ profile }) =>
    `The provider rejected the request: check the profile "${profile.name}", or rephrase the message.`,
};

/** For providers whose responses cannot be observed: their reports are JSON, or begin with the status. */
function statusIn(reported: string): number | undefined {
  const found = /"code":\s*(\d{3})\b/.exec(reported) ?? /^(\d{3})\b/.exec(reported);
  return found === null ? undefined : Number(found[1]);
}

/** Reports contain the raw body of the response; the message in it is enough. */
function ownWords(reported: string): string {
  try {
    const body: { error?: { message?: unknown }; message?: unknown } = JSON.parse(
      reported.slice(reported.indexOf("{")),
    );
    const message = body.error?.message ?? body.message;
    return typeof message === "string" && message !== "" ? message : reported;
  } catch {
    return reported; // not JSON
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message === "" ? String(codeOf(cause)) : cause.message;
}

function withoutSecrets(words: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === "" ? text : text.replaceAll(secret, "[key]")), words);
}

function trimmed(words: string): string {
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS)}…`;
}

/** Retry-After in seconds or as a date, its variant in milliseconds, or Google's field in the body. */
function retryDelay(headers: Headers | undefined, reported: string, nowMs: number): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (milliseconds >= 0) return milliseconds;
  const after = headers?.get("retry-after") ?? /"retryDelay":\s*"([\d.]+)s"/.exec(reported)?.[1];
  if (after === undefined) return undefined;
  const delayMs = /^[\d.]+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - nowMs;
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : undefined;
}
