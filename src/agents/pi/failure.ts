/** What a provider's trouble is to us: an error that says whose, in whose words, and whether to try again. */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isContextOverflow } from "@earendil-works/pi-ai/utils/overflow";

import { codeOf } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { Credentials } from "./credentials.ts";
import type { Seen } from "./watch.ts";

/** How much of a provider's own words goes into a message. */
export const MAX_WORDS = 500;

interface FailedRequest {
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly seen: Seen;
  readonly nowMs: number;
}

/** The failure of a request, from pi's report of it and from what was seen on the wire. */
export function modelFailed(report: AssistantMessage, request: FailedRequest): CortexError {
  const { profile, credentials, seen } = request;
  const reported = report.errorMessage ?? "no reason given";
  const status = seen.status === undefined ? statusIn(reported) : seen.status;
  const failedStatus = status !== undefined && status >= 400 ? status : undefined;
  const own = seen.refused === undefined ? ownWords(reported) : reasonOf(seen.refused);
  const words = trimmed(withoutSecrets(own, credentials.secrets));
  // Too many tokens a minute are no conversation that is too long, though they are called the same.
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
      retryAfterMs: delayAsked(seen.headers, reported, request.nowMs),
    },
  );
}

export function fellSilent(profile: Profile, idleTimeoutMs: number): CortexError {
  return new CortexError(
    "model_failed",
    `${profile.provider} failed with ${profile.model}: it has sent nothing for ${idleTimeoutMs / 1000} s`,
    { hint: "Check that the server works; a local model may need a smaller conversation.", transient: true },
  );
}

type Kind = "busy" | "unreachable" | "unpaid" | "forbidden" | "missing" | "refused" | "overflow";

const BUSY_STATUSES = new Set([408, 409, 425, 429]);
/** Why providers end an answer that they do not want to give. */
const DECLINED = /content_filter|refusal|sensitive|safety|blocklist|prohibited|spii|recitation/i;

/** An answer that broke off may come whole the next time, unless the provider did not want to give it. */
function classify(status: number | undefined, reported: string, ended: string): Exclude<Kind, "overflow"> {
  if (status === 402 || (status === 429 && /insufficient_quota|billing/i.test(reported))) return "unpaid";
  if (status === 401 || status === 403) return "forbidden";
  if (status === 404) return "missing";
  if (status !== undefined) return status >= 500 || BUSY_STATUSES.has(status) ? "busy" : "refused";
  if (/overloaded|rate_limit/i.test(reported)) return "busy";
  return DECLINED.test(ended) || /invalid_(request|prompt)/.test(reported) ? "refused" : "unreachable";
}

const HINTS: Readonly<Record<Kind, (request: FailedRequest) => string>> = {
  busy: () => "The provider is busy or limits how much may be asked: try again later.",
  unreachable: ({ baseUrl, profile }) =>
    `Check that the server at ${URL.parse(baseUrl)?.origin ?? profile.provider} works and can be reached.`,
  unpaid: ({ profile }) => `Check the credit of the account at ${profile.provider}.`,
  forbidden: ({ profile, credentials }) =>
    credentials.variable === undefined
      ? `The server wants a key: name the variable that holds it in \`apiKeyEnv\` of the profile "${profile.name}".`
      : `Check the key in ${credentials.variable}.`,
  missing: ({ profile }) => `Check \`model\` and \`baseUrl\` of the profile "${profile.name}".`,
  overflow: ({ profile }) =>
    `The conversation is made shorter by itself; \`contextWindow\` of the profile "${profile.name}" may be too large.`,
  refused: ({ profile }) =>
    `The request itself was refused: check the profile "${profile.name}", or ask otherwise.`,
};

/** For providers whose client cannot be watched: their reports are JSON, or begin with the status. */
function statusIn(reported: string): number | undefined {
  const found = /"code":\s*(\d{3})\b/.exec(reported) ?? /^(\d{3})\b/.exec(reported);
  return found === null ? undefined : Number(found[1]);
}

/** Reports hold the body of the response as it came; the sentence in it is enough. */
function ownWords(reported: string): string {
  try {
    const body = JSON.parse(reported.slice(reported.indexOf("{"))) as {
      error?: { message?: unknown };
      message?: unknown;
    };
    const message = body.error?.message ?? body.message;
    return typeof message === "string" && message !== "" ? message : reported;
  } catch {
    return reported; // It is no JSON, and so it is the words.
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(refused: unknown): string {
  if (!(refused instanceof Error)) return String(refused);
  const { cause } = refused;
  if (!(cause instanceof Error)) return refused.message;
  return cause.message === "" ? String(codeOf(cause)) : cause.message;
}

function withoutSecrets(words: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === "" ? text : text.replaceAll(secret, "[key]")), words);
}

function trimmed(words: string): string {
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS)}…`;
}

/** Retry-After in seconds or as a date, its form in milliseconds, or Google's field in the body. */
function delayAsked(headers: Headers | undefined, reported: string, nowMs: number): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (milliseconds >= 0) return milliseconds;
  const after = headers?.get("retry-after") ?? /"retryDelay":\s*"([\d.]+)s"/.exec(reported)?.[1];
  if (after === undefined) return undefined;
  const delayMs = /^[\d.]+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - nowMs;
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : undefined;
}
