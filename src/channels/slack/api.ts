/** Slack's Web API: one request, and what its answer means. */
import { connectionFailure } from "../connection-failure.ts";
import { credentialsRefused, deliveryFailed, deliveryRefused, deliveryUncertain } from "../channel.ts";
import { withTimeout } from "../with-timeout.ts";

export interface SlackApi {
  /** Throws as `Connection.send` does, and `credentials_refused`. */
  call<Result>(method: string, params: Params, options: CallOptions): Promise<Result & Said>;
  /** The content of a file. Only Slack itself gets the token. */
  download(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Sends the content of a file to the address that `files.getUploadURLExternal` gave. */
  upload(url: string, content: Uint8Array, signal: AbortSignal): Promise<void>;
}

/** What Slack says with each answer. */
interface Said {
  /** What the token may do. */
  readonly scopes: string;
  /** When it was by Slack's clock. Ours may differ. */
  readonly dateMs: number;
}

export type Params = Readonly<Record<string, string | number | boolean | object | undefined>>;

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

interface Answer {
  readonly ok: boolean;
  readonly error?: string;
  readonly needed?: string;
}

const TIMEOUT_MS = 30_000;
const UPLOAD_MS = 60_000;

export function openSlackApi({
  apiUrl,
  token,
  fetch,
}: {
  readonly apiUrl: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
}): SlackApi {
  const authorization = { Authorization: `Bearer ${token}` };
  const request = (what: string, url: string, init: RequestInit & { readonly signal: AbortSignal }) =>
    fetch(url, init).catch((error: unknown) => {
      throw init.signal.aborted ? unanswered(what, error) : connectionFailure("Slack", error);
    });
  return {
    call: (method, params, { signal: outer, timeoutMs = TIMEOUT_MS }) =>
      withTimeout(
        async (signal) => {
          const init = { method: "POST", headers: authorization, body: formOf(params), signal };
          const response = await request(method, `${apiUrl}/${method}`, init);
          if (response.status === 429) throw tooMany(method, response.headers.get("Retry-After"));
          const answer = (await response.json().catch((error: unknown) => {
            throw unreadable(method, response.status, error);
          })) as Answer | null;
          if (answer?.ok === true) return { ...(answer as object), ...saidWith(response) } as never;
          if (typeof answer?.error !== "string") throw unreadable(method, response.status, answer);
          throw failureOf(method, answer.error, answer.needed);
        },
        outer,
        timeoutMs,
      ),
    async download(url, signal) {
      const { protocol, host } = new URL(url);
      const isSlack =
        host === new URL(apiUrl).host || (protocol === "https:" && /(^|\.)slack\.com$/.test(host));
      if (!isSlack) throw new Error(`The file is at ${host}, not at Slack`);
      const response = await fetch(url, { headers: authorization, signal });
      if (!response.ok || response.body === null)
        throw new Error(`Slack answered ${response.status} for the file`);
      // Without the right to it, Slack shows its login page.
      if (!response.redirected || !/^text\/html\b/.test(response.headers.get("Content-Type") ?? ""))
        return response.body;
      await response.body.cancel();
      throw new Error("Slack asked for a login instead of the file. The app needs the scope files:read");
    },
    upload: (url, content, outer) =>
      withTimeout(
        async (signal) => {
          const body = content as Uint8Array<ArrayBuffer>;
          const response = await request("the upload", url, { method: "POST", body, signal });
          if (!response.ok) throw failureOf("the upload", `status ${response.status}`);
        },
        outer,
        UPLOAD_MS,
      ),
  };
}

function saidWith({ headers }: Response): Said {
  return {
    scopes: headers.get("X-OAuth-Scopes") ?? "",
    dateMs: Date.parse(headers.get("Date") ?? "") || 0, // a proxy may remove it; then everything is looked at
  };
}

/** Not all methods take JSON. */
function formOf(params: Params): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value !== undefined)
      form.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  return form;
}

const BAD_CREDENTIALS =
  /^(account_inactive|app_uninstalled|invalid_auth|no_permission|not_allowed_token_type|not_authed|org_login_required|team_access_not_granted|token_expired|token_revoked|user_removed_from_team)$/;
/** As Slack documents them, part of the work may be done. */
const UNCERTAIN = /^(fatal_error|internal_error|service_unavailable|status 5\d\d)$/;
const NOT_NOW = /^(rate_?limited|request_timeout|message_limit_exceeded)$/;
const HINTS: Readonly<Record<string, string>> = {
  not_in_channel: "Invite the app: /invite @name in the channel.",
  channel_not_found: "Check the id of the channel. The app must be a member of a private one.",
  is_archived: "The channel is archived. Unarchive it, or use another.",
};

/** In Slack's own words. */
function failureOf(method: string, error: string, needed?: string): Error {
  const said = `Slack refused ${method}: ${error}`;
  if (error === "missing_scope")
    return credentialsRefused(`${said} (needed: ${needed})`, {
      hint: `Add the scope ${needed} to the app (OAuth & Permissions), then install it again.`,
    });
  if (BAD_CREDENTIALS.test(error))
    return credentialsRefused(said, {
      hint: "Copy the tokens from https://api.slack.com/apps and set them with `cortex channels login slack`.",
    });
  if (UNCERTAIN.test(error))
    return deliveryUncertain(said, { hint: "Slack has a problem. It may have arrived all the same." });
  if (NOT_NOW.test(error)) return deliveryFailed(said, { hint: "Retried automatically." });
  return deliveryRefused(said, { hint: HINTS[error] ?? "Check the channel, and what the app may do there." });
}

function tooMany(method: string, retryAfter: string | null): Error {
  return deliveryFailed(`Slack refused ${method}: ratelimited`, {
    hint: "Retried automatically.",
    retryAfterMs: (Number(retryAfter) || 1) * 1_000,
  });
}

function unanswered(method: string, cause: unknown): Error {
  return deliveryUncertain(`Slack did not answer ${method} in time`, { hint: "It may have arrived.", cause });
}

function unreadable(method: string, status: number, cause: unknown): Error {
  return deliveryUncertain(`Slack answered ${method} with status ${status} and no answer of its API`, {
    hint: "Check `channels.slack.apiUrl`. It may have arrived.",
    cause,
  });
}
