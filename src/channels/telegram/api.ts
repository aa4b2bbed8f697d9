/** Telegram's Bot API: one request, and what its answer means. */
import { connectionFailure } from "../connection-failure.ts";
import {
  channelConflict,
  credentialsRefused,
  deliveryFailed,
  deliveryRefused,
  deliveryUncertain,
} from "../channel.ts";
import { withTimeout } from "../with-timeout.ts";

export interface TelegramApi {
  /** Throws as `Connection.send` does, `credentials_refused`, and `channel_conflict`. */
  call<Result>(method: string, params: object, options: CallOptions): Promise<Result>;
  /** The content of a file, by the path that `getFile` gave. */
  download(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Sent along, as the parameter `field`. */
  readonly file?: Upload;
}

interface Upload {
  readonly field: string;
  readonly name: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

interface Answer {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

const TIMEOUT_MS = 30_000;
/** The delivery step waits little longer than this for one message. */
const UPLOAD_TIMEOUT_MS = 55_000;

export function openTelegramApi({
  baseUrl,
  token,
  fetch,
  log,
}: {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  readonly log: (line: string) => void;
}): TelegramApi {
  const api: TelegramApi = {
    async call<Result>(method: string, params: object, options: CallOptions): Promise<Result> {
      const { signal: outer, file } = options;
      const { timeoutMs = file === undefined ? TIMEOUT_MS : UPLOAD_TIMEOUT_MS } = options;
      return withTimeout(
        async (signal) => {
          const response = await fetch(`${baseUrl}/bot${token}/${method}`, {
            method: "POST",
            ...(file === undefined ? asJson(params) : { body: asForm(params, file) }),
            signal,
          }).catch((error: unknown) => {
            throw signal.aborted ? unanswered(method, error) : connectionFailure("Telegram", error);
          });
          const answer = (await response.json().catch((error: unknown) => {
            throw unreadable(method, response.status, error);
          })) as Answer;
          if (answer.ok) return answer.result as Result;
          const { migrate_to_chat_id: migrated } = answer.parameters ?? {};
          // The group has become a supergroup, with another id. Nothing was sent.
          if (migrated !== undefined) {
            log(groupMoved((params as { chat_id?: unknown }).chat_id, migrated));
            return api.call<Result>(method, { ...params, chat_id: migrated }, options);
          }
          throw failureOf(method, response.status, answer);
        },
        outer,
        timeoutMs,
      );
    },
    async download(path, signal) {
      const response = await fetch(`${baseUrl}/file/bot${token}/${path}`, { signal });
      if (response.ok && response.body !== null) return response.body;
      throw new Error(`Telegram answered ${response.status} for the file`);
    },
  };
  return api;
}

function asJson(params: object): RequestInit {
  return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(params) };
}

function asForm(params: object, { field, name, contentType, content }: Upload): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(params))
    form.set(key, typeof value === "object" ? JSON.stringify(value) : String(value));
  form.set(field, new Blob([new Uint8Array(content)], { type: contentType }), name);
  return form;
}

/** For the owner. */
export function groupMoved(from: unknown, to: number): string {
  return (
    `The Telegram group ${String(from)} has become the supergroup ${to}. ` +
    "Answers go there; use the new id in `allow`, hooks and the address of the owner."
  );
}

/** In Telegram's own words. */
function failureOf(method: string, status: number, { description = "", parameters = {} }: Answer): Error {
  const said = `Telegram refused ${method}: ${description || `status ${status}`}`;
  switch (status) {
    case 401:
    case 404: // a token of the wrong form is part of an unknown path
      return credentialsRefused(said, {
        hint: "Get a valid token from @BotFather (/mybots → API Token) and set it with `cortex channels login telegram`.",
      });
    case 409:
      return channelConflict(said, {
        hint: "Another program reads this bot. Stop it, or create a bot of your own for Cortex.",
      });
    case 429: {
      const { retry_after: seconds = 1 } = parameters;
      return deliveryFailed(said, { hint: "Retried automatically.", retryAfterMs: seconds * 1_000 });
    }
    default:
      return status >= 500
        ? deliveryUncertain(said, { hint: "Telegram has a problem. It may have arrived all the same." })
        : deliveryRefused(said, { hint: "Check the chat, and whether the bot may write there." });
  }
}

function unanswered(method: string, cause: unknown): Error {
  return deliveryUncertain(`Telegram did not answer ${method} in time`, {
    hint: "It may have arrived.",
    cause,
  });
}

function unreadable(method: string, status: number, cause: unknown): Error {
  return deliveryUncertain(`Telegram answered ${method} with status ${status} and no JSON`, {
    hint: "Check `channels.telegram.baseUrl`. It may have arrived.",
    cause,
  });
}
