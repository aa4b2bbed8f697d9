/**
 * Session keys: the one place where they are read and written.
 *
 * A session is a short label (`work`, `fork-…`), a key of an agent (`agent:main:telegram:group:123`)
 * or a key of a relay (`thr:thr_0a1b2c3d:writer:2`). Every text that names the same session is
 * normalised to the same key, because the key is compared byte for byte from here on.
 *
 * Where one platform has several accounts, the channel names the account: `agent:main:telegram@work:group:123`.
 *
 * Ids of a platform may hold any character: what would break the key (colon, percent, white space)
 * is percent-encoded in the key and decoded by parsing.
 */
import { CortexError } from "./errors.ts";
import { type AgentId, DEFAULT_ACCOUNT, DEFAULT_AGENT, isRelayId, parseAgentId } from "./ids.ts";
import { OWNER_ID } from "./person.ts";
import { present } from "./present.ts";

export type SessionKey = string & { readonly __id: "session" };

export type ParsedSessionKey =
  | { readonly kind: "label"; readonly label: string }
  | { readonly kind: "main"; readonly agent: AgentId }
  | { readonly kind: "dm"; readonly agent: AgentId; readonly peer: string; readonly channel?: undefined }
  | {
      readonly kind: "dm";
      readonly agent: AgentId;
      readonly channel: string;
      readonly account?: string;
      readonly peer: string;
      readonly topic?: string;
    }
  | {
      readonly kind: "place";
      readonly agent: AgentId;
      readonly channel: string;
      readonly account?: string;
      readonly placeKind: "group" | "channel";
      readonly place: string;
      readonly topic?: string;
    }
  | { readonly kind: "subagent"; readonly agent: AgentId; readonly id: string }
  | { readonly kind: "cron"; readonly agent: AgentId; readonly job: string }
  | { readonly kind: "other"; readonly agent: AgentId; readonly rest: readonly string[] }
  | { readonly kind: "relay"; readonly relay: string; readonly slot: string; readonly step?: number };

/**
 * How direct messages are split into sessions: one a person, or one a person and channel. `main`: the owner's are all in
 * the main session, and everyone else has one a channel.
 */
export type DmScope = "main" | "per-peer" | "per-channel-peer";

export const MAX_SESSION_KEY_LENGTH = 512;
export const MAIN_SESSION = "agent:main:main" as SessionKey;

const LABEL = /^[a-z0-9._-]{1,64}$/;
const SLOT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const STEP = /^(0|[1-9][0-9]{0,8})$/;
const CHANNEL = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

// On these platforms an id means the same in any case. Elsewhere (Slack's C123) it is kept as given:
// two sessions for one place are a nuisance, two places in one session would be a leak.
const CASE_IGNORED = new Set([
  "discord",
  "email",
  "imessage",
  "irc",
  "signal",
  "sms",
  "telegram",
  "whatsapp",
]);

export function normalizeSessionKey(text: string): SessionKey {
  return writeKey(parseSessionKey(text));
}

export function parseSessionKey(text: string): ParsedSessionKey {
  const key = text.trim();
  if (key.length > MAX_SESSION_KEY_LENGTH) {
    throw invalid(
      key.slice(0, 60) + "…",
      `${key.length} characters exceed the limit of ${MAX_SESSION_KEY_LENGTH}`,
    );
  }
  if (!key.includes(":")) return parseLabel(key);
  const parts = key.split(":");
  const [first = "", second = ""] = parts;
  const head = first.toLowerCase();
  if (head === "thr") return parseRelay(key, parts.slice(1));
  const rest = head === "agent" ? parts.slice(2) : parts;
  const agent = head === "agent" ? second : DEFAULT_AGENT;
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(agent)) throw invalid(key, `invalid agent id "${agent}"`);
  if (rest.length === 0) throw invalid(key, "missing session after the agent id");
  return parseAgentKey(
    parseAgentId(agent),
    rest.map((part) => decode(key, part)),
  );
}

/** The key is read once more, so that an empty id or a bad channel is an error here and not where it is used. */
export function buildSessionKey(parsed: ParsedSessionKey): SessionKey {
  return normalizeSessionKey(writeKey(parsed));
}

/** The session in which a direct message from this peer belongs. */
export function dmSessionKey(dm: {
  readonly agent: AgentId;
  readonly scope: DmScope;
  readonly channel: string;
  readonly account?: string;
  readonly peer: string;
  readonly topic?: string;
  /** Whose id it is on the channel. */
  readonly person?: string;
}): SessionKey {
  const { agent, scope, channel, account, topic, peer, person } = dm;
  if (scope === "main" && person === OWNER_ID) return buildSessionKey({ kind: "main", agent });
  if (scope === "per-peer" && person !== undefined)
    return buildSessionKey({ kind: "dm", agent, peer: person });
  return buildSessionKey({ kind: "dm", agent, channel, peer, ...present({ account, topic }) });
}

function parseLabel(key: string): ParsedSessionKey {
  const label = key.toLowerCase();
  if (!LABEL.test(label)) throw invalid(key, "a label has 1 to 64 letters, digits, dots, - and _");
  return label === "main" ? { kind: "main", agent: DEFAULT_AGENT } : { kind: "label", label };
}

function parseRelay(key: string, rest: readonly string[]): ParsedSessionKey {
  const [relay, slot, step, ...more] = rest.map((part) => part.toLowerCase());
  if (relay === undefined || !isRelayId(relay)) throw invalid(key, `invalid relay id "${relay ?? ""}"`);
  if (slot === undefined || !SLOT.test(slot)) throw invalid(key, `invalid slot "${slot ?? ""}"`);
  if (more.length > 0) throw invalid(key, `unexpected part "${more.join(":")}"`);
  if (step === undefined) return { kind: "relay", relay, slot };
  if (!STEP.test(step)) throw invalid(key, `invalid step number "${step}"`);
  return { kind: "relay", relay, slot, step: Number(step) };
}

function parseAgentKey(agent: AgentId, rest: readonly string[]): ParsedSessionKey {
  const words = rest.map((part) => part.toLowerCase());
  const [type = "", second = ""] = words;
  if (rest.length === 1 && type === "main") return { kind: "main", agent };
  if (rest.length === 2 && type === "subagent") return { kind: "subagent", agent, id: second };
  if (rest.length === 2 && type === "cron") return { kind: "cron", agent, job: second };
  if (rest.length === 2 && (type === "dm" || type === "direct")) return { kind: "dm", agent, peer: second };

  const hasTopic = rest.length === 5 && (words[3] === "thread" || words[3] === "topic");
  const [channel = "", ...account] = type.split("@");
  if ((rest.length === 3 || hasTopic) && CHANNEL.test(channel)) {
    const id = (at: number): string => (CASE_IGNORED.has(channel) ? words : rest)[at] ?? "";
    const at = {
      channel,
      ...accountPart(account.length === 0 ? undefined : id(0).slice(channel.length + 1)),
      ...(hasTopic ? { topic: id(4) } : {}),
    };
    if (second === "dm" || second === "direct") return { kind: "dm", agent, peer: id(2), ...at };
    if (second === "group" || second === "channel")
      return { kind: "place", agent, placeKind: second, place: id(2), ...at };
  }
  return { kind: "other", agent, rest: words };
}

/** The default account is not named, so that each session has one key. */
function accountPart(account: string | undefined): { readonly account?: string } {
  return account === undefined || account === "" || account === DEFAULT_ACCOUNT ? {} : { account };
}

function writeKey(parsed: ParsedSessionKey): SessionKey {
  return checkLength(parts(parsed).join(":")) as SessionKey;
}

function parts(parsed: ParsedSessionKey): readonly string[] {
  const topic =
    "topic" in parsed && parsed.topic !== undefined ? ["thread", encodeId(parsed.channel, parsed.topic)] : [];
  switch (parsed.kind) {
    case "label":
      return [parsed.label];
    case "main":
      return ["agent", parsed.agent, "main"];
    case "dm": {
      const channel = parsed.channel === undefined ? [] : [channelPart(parsed)];
      return ["agent", parsed.agent, ...channel, "dm", encodeId(parsed.channel, parsed.peer), ...topic];
    }
    case "place": {
      const place = encodeId(parsed.channel, parsed.place);
      return ["agent", parsed.agent, channelPart(parsed), parsed.placeKind, place, ...topic];
    }
    case "subagent":
      return ["agent", parsed.agent, "subagent", encode(parsed.id.toLowerCase())];
    case "cron":
      return ["agent", parsed.agent, "cron", encode(parsed.job.toLowerCase())];
    case "other":
      return ["agent", parsed.agent, ...parsed.rest.map((part) => encode(part.toLowerCase()))];
    case "relay":
      return ["thr", parsed.relay, parsed.slot, ...(parsed.step === undefined ? [] : [String(parsed.step)])];
  }
}

function channelPart({ channel, ...rest }: { readonly channel: string; readonly account?: string }): string {
  const { account } = accountPart(rest.account);
  return account === undefined ? channel : `${channel}@${encodeId(channel, account)}`;
}

function encodeId(channel: string | undefined, id: string): string {
  return encode(channel === undefined || CASE_IGNORED.has(channel) ? id.toLowerCase() : id);
}

// Upper-case escapes survive because they are decoded before anything is lower-cased.
function encode(part: string): string {
  return part.toWellFormed().replaceAll(/[\s:%\p{Cc}]/gu, encodeURIComponent);
}

function decode(key: string, part: string): string {
  if (part === "") throw invalid(key, "empty part");
  if (/[\s\p{Cc}]/u.test(part)) throw invalid(key, `"${part}" contains whitespace`);
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw invalid(key, `invalid percent-encoding in "${part}"`, cause);
  }
}

function checkLength(key: string): string {
  if (key.length <= MAX_SESSION_KEY_LENGTH) return key;
  throw invalid(
    key.slice(0, 60) + "…",
    `${key.length} characters exceed the limit of ${MAX_SESSION_KEY_LENGTH}`,
  );
}

function invalid(key: string, why: string, cause?: unknown): CortexError {
  return new CortexError("session_key_invalid", `Invalid session key "${key}": ${why}`, {
    hint: "Use a label such as `work`, or a key such as `agent:main:main` or `telegram:group:123`.",
    cause,
  });
}
