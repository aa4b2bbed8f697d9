/** The requests of a chat to its server, which is looked up for each one: it may have been restarted. */
import type { AgentId } from "../model/ids.ts";
import { DEFAULT_AGENT } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import { resolveQueue } from "../queue/settings.ts";
import type { RelayView } from "../relay/surface/views.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import type { configView, SessionView, TurnView } from "../feature/views.ts";
import { ask, type Request } from "../client/ask.ts";
import type { RequestReply } from "./chat-requests.ts";
import { CHANNEL, type MessageBody } from "./send.ts";
import { readOutput } from "../relay/surface/progress.ts";
import type { SendResult } from "./send.ts";
import { needServer } from "../client/server.ts";

export type ChatServer = ReturnType<typeof openChatServer>;

/** Maximum number of turns and sessions in a list. */
const MAX_LISTED = 20;
export const COST_DAYS = 30;

export interface ChatCosts {
  readonly costUsd: number;
  readonly turns: number;
  readonly items: readonly { readonly key: string; readonly turns: number; readonly costUsd: number }[];
}

export function openChatServer(home: string, signal: AbortSignal) {
  const send = async <Body>(wanted: Request): Promise<Body> => {
    return (await ask<Body>(await needServer(home), { ...wanted, signal })).body;
  };
  const list = async <Item>(path: string): Promise<readonly Item[]> =>
    (await send<{ readonly items: readonly Item[] }>({ path })).items;
  const config = async () =>
    (await send<{ readonly config: ReturnType<typeof configView> }>({ path: "/api/config" })).config;
  const session = (key: SessionKey): Promise<SessionView> => send({ path: sessionPath(key) });

  return {
    session,
    say: (message: MessageBody): Promise<SendResult> =>
      send({ method: "POST", path: "/api/messages", body: message }),
    abort: (key: SessionKey): Promise<Json> => send({ method: "POST", path: `${sessionPath(key)}/abort` }),
    sessions: () => list<SessionView>(`/api/sessions?limit=${MAX_LISTED}`),
    /** Newest first. */
    turns: (key: SessionKey, limit = MAX_LISTED) =>
      list<TurnView>(`${sessionPath(key)}/turns?limit=${limit}`),
    turn: (id: string): Promise<TurnView> => send({ path: `/api/turns/${encodeURIComponent(id)}` }),
    costs: (): Promise<ChatCosts> => send({ path: `/api/costs?by=session&days=${COST_DAYS}` }),
    async profiles(): Promise<readonly string[]> {
      return (await config()).profiles.map(({ name }) => name);
    },
    /** The queue mode for messages to a busy agent. A session that does not exist yet has no mode of its own. */
    async mode(key: SessionKey): Promise<QueueMode> {
      const own = await session(key).catch(() => ({ mode: null, agent: DEFAULT_AGENT }));
      return modeOf({
        mode: own.mode,
        agent: own.agent,
        channel: CHANNEL,
        config: await config(),
      });
    },
    requests: (key: SessionKey) =>
      list<ApprovalView>(`/api/approvals?state=open&session=${encodeURIComponent(key)}`),
    request: (id: string): Promise<ApprovalView> =>
      send({ path: `/api/approvals/${encodeURIComponent(id)}` }),
    /** A decision is about the request as it was shown. */
    async reply({ id, digest }: Pick<ApprovalView, "id" | "digest">, reply: RequestReply): Promise<void> {
      const path = encodeURIComponent(id);
      const { kind } = reply;
      if (kind === "answer")
        await send({ method: "POST", path: `/api/questions/${path}`, body: { answer: reply.text } });
      else {
        const body = { decision: kind, reason: kind === "deny" ? reply.reason : undefined, digest };
        await send({ method: "POST", path: `/api/approvals/${path}`, body });
      }
    },
    /** The error of a message that became a dead letter. */
    async deadReason(item: string): Promise<string> {
      return (await send<{ error: string }>({ path: `/api/dead/${encodeURIComponent(item)}` })).error;
    },
    /** A relay and its output. */
    async relay(id: string): Promise<{ record: RelayView; output: string | null }> {
      const record = await send<RelayView>({ path: `/api/relays/${encodeURIComponent(id)}` });
      return { record, output: await readOutput(record, await needServer(home)) };
    },
  };
}

function sessionPath(key: SessionKey): string {
  return `/api/sessions/${encodeURIComponent(key)}`;
}

/** The queue mode for a person's message to a busy session, from what the API says about session and settings. */
export function modeOf(given: {
  /** Set on the session. */
  readonly mode: string | null;
  readonly agent: AgentId;
  readonly channel: string;
  readonly config: Pick<ReturnType<typeof configView>, "broker" | "agents">;
}): QueueMode {
  const { mode, agent, channel, config } = given;
  const own = config.agents.find(({ id }) => id === agent)?.queueMode ?? null;
  const { settings } = resolveQueue({
    mode: undefined,
    session: { mode },
    channel,
    agent,
    sender: "person",
    config: { broker: config.broker, agents: { [agent]: own === null ? {} : { queueMode: own } } },
  });
  return settings.mode;
}
