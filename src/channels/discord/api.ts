/** Discord's REST API: one request, and what its answer means. */
import { credentialsRefused, deliveryFailed, deliveryRefused, deliveryUncertain } from "../channel.ts";
import { connectionFailure } from "../connection-failure.ts";
import { withTimeout } from "../with-timeout.ts";
import type { RateLimits } from "./rate-limits.ts";

/**
 * `call("POST /channels/1/messages", signal, {content})`. Throws as `Connection.send` does, and `credentials_refused`. Only
 * the caller knows what an answer holds.
 */
export type DiscordApi = <Result>(
  request: string,
  signal: AbortSignal,
  body?: object | FormData,
) => Promise<Result>;

interface Refusal {
  readonly message?: string;
  readonly code?: number;
  readonly retry_after?: number;
  /** Of each field that is wrong, `{_errors: [{message}]}`. */
  readonly errors?: object;
}

const TIMEOUT_MS = 30_000;
/** Discord refuses clients that do not name themselves in this form. */
const USER_AGENT = "DiscordBot (https://www.npmjs.com/package/cortexd, 1)";

interface ApiPorts {
  readonly apiUrl: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  readonly pace: RateLimits;
}

export function openDiscordApi({ apiUrl, token, fetch, pace }: ApiPorts): DiscordApi {
  return <Result>(request: string, outer: AbortSignal, body?: object | FormData) =>
    withTimeout(
      async (signal) => {
        const [method = "", path = ""] = request.split(" ");
        const isForm = body instanceof FormData;
        const response = await fetch(apiUrl + path, {
          method,
          headers: {
            Authorization: `Bot ${token}`,
            "User-Agent": USER_AGENT,
            ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
          },
          ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
          signal,
        }).catch((error: unknown) => {
          throw signal.aborted ? unclear(request, "in time", error) : connectionFailure("Discord", error);
        });
        pace.note(request, response.headers);
        const text = await response.text().catch((error: unknown) => {
          throw unclear(request, "to the end", error);
        });
        if (!response.ok) throw failureOf(request, response, readJson(text) as Refusal | undefined);
        const answer = readJson(text);
        if (answer === undefined && text !== "") throw unclear(request, "in JSON");
        return answer as Result;
      },
      outer,
      TIMEOUT_MS,
    );
}

/** In Discord's own words. */
function failureOf(request: string, { status, headers }: Response, refusal: Refusal | undefined): Error {
  const { message = `status ${status}`, code, errors, retry_after: seconds } = refusal ?? {};
  const fields = errors === undefined ? "" : `: ${wrongFields(errors).join("; ")}`;
  const what = request.replace(/\/interactions\/.*/, "an acknowledgement"); // its path holds a token
  const said = `Discord refused ${what}: ${message}${code === undefined ? "" : ` (${code})`}${fields}`;
  if (status === 401)
    return credentialsRefused(said, {
      hint: "Reset the token in the Discord Developer Portal (Bot → Reset Token) and set it with `cortex channels login discord`.",
    });
  if (status === 429) {
    const retryAfterMs = Math.ceil((seconds ?? Number(headers.get("retry-after") ?? 1)) * 1_000);
    return deliveryFailed(said, { hint: "Retried automatically.", retryAfterMs });
  }
  return status >= 500
    ? deliveryUncertain(said, { hint: "Discord has a problem. It may have arrived all the same." })
    : deliveryRefused(said, { hint: "Check the channel, and the permissions of the bot in it." });
}

/** `content: Must be 2000 or fewer in length.` */
function wrongFields(errors: object, path = ""): string[] {
  return Object.entries(errors).flatMap(([name, value]) => {
    if (typeof value !== "object" || value === null) return [];
    if (name !== "_errors") return wrongFields(value, path === "" ? name : `${path}.${name}`);
    return [value].flat().map((each: { message?: unknown }) => `${path}: ${String(each.message)}`);
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // there is none, or a proxy in between answers in HTML
  }
}

function unclear(request: string, how: string, cause?: unknown): Error {
  return deliveryUncertain(`Discord did not answer ${request} ${how}`, {
    hint: "It may have arrived.",
    cause,
  });
}
