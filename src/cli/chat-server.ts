/** What a chat asks its server for. The server may be another one each time: it is found anew. */
import type { AgentId } from "../model/ids.ts";
import { DEFAULT_AGENT } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import { resolveQueue } from "../queue/settings.ts";
import type { RelayView } from "../relay/surface/views.ts";
import type { ApprovalView, configView, SessionView, TurnView } from "../feature/views.ts";
import { ask, type Request } from "../client/ask.ts";
import type { RequestReply } from "./chat-requests.ts";
import { CHANNEL, type MessageBody } from "./send.ts";
import { readOutput } from "../relay/surface/progress.ts";
import type { SendResult } from "./send.ts";
import { needServer } from "../client/server.ts";

export type ChatServer = ReturnType<typeof openChatServer>;

/** So many turns and sessions are listed. */
const MAX_LISTED = 20;
export const COST_DAYS = 30;

export interface ChatCosts {
  readonly costUsd: number;
  readonly turns: number;
  readonly items: readonly { readonly key: string; readonly turns: number; readonly costUsd: number }[];
}

export function openChatServer(home: string, signal: AbortSignal) {
  const send = async <Body>(wanted: Request): Promise<Body> => {
    const { body } = await ask(await needServer(home), { ...wanted, signal });
    return body as unknown as Body;
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
    /** The last ones, newest first. */
    turns: (key: SessionKey, limit = MAX_LISTED) =>
      list<TurnView>(`${sessionPath(key)}/turns?limit=${limit}`),
    turn: (id: string): Promise<TurnView> => send({ path: `/api/turns/${encodeURIComponent(id)}` }),
    costs: (): Promise<ChatCosts> => send({ path: `/api/costs?by=session&days=${COST_DAYS}` }),
    async profiles(): Promise<readonly string[]> {
      return (await config()).profiles.map(({ name }) => name);
    },
    /** What a message does now that finds the agent at work. A session that has not begun says nothing of its own. */
    async mode(key: SessionKey): Promise<QueueMode> {
      const own = await session(key).catch(() => ({ mode: null, agent: DEFAULT_AGENT as string }));
      return modeOf({
        mode: own.mode,
        agent: own.agent as AgentId,
        channel: CHANNEL,
        config: await config(),
      });
    },
    requests: (key: SessionKey) =>
      list<ApprovalView>(`/api/approvals?state=open&session=${encodeURIComponent(key)}`),
    request: (id: string): Promise<ApprovalView> =>
      send({ path: `/api/approvals/${encodeURIComponent(id)}` }),
    async reply(id: string, reply: RequestReply): Promise<void> {
      const path = encodeURIComponent(id);
      const { kind } = reply;
      if (kind === "answer")
        await send({ method: "POST", path: `/api/questions/${path}`, body: { answer: reply.text } });
      else {
        const body = { decision: kind, reason: kind === "deny" ? reply.reason : undefined };
        await send({ method: "POST", path: `/api/approvals/${path}`, body });
      }
    },
    /** Why a message could not be answered. */
    async deadReason(item: string): Promise<string> {
      return (await send<{ error: string }>({ path: `/api/dead/${encodeURIComponent(item)}` })).error;
    },
    /** A relay, and what it has come to. */
    async relay(id: string): Promise<{ record: RelayView; output: string | null }> {
      const record = await send<RelayView>({ path: `/api/relays/${encodeURIComponent(id)}` });
      return { record, output: await readOutput(record, await needServer(home)) };
    },
  };
}

function sessionPath(key: SessionKey): string {
  return `/api/sessions/${encodeURIComponent(key)}`;
}

/** What a message of a person does that finds the session busy, by what the interface says of session and settings. */
export function modeOf(given: {
  /** What the session says itself. */
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
