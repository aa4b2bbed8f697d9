import type { Database } from "better-sqlite3";

import type { AgentId, EventId, PersonaId, TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Message, ToolCall } from "../../model/message.ts";
import type { Principal } from "../../model/principal.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Context, StoredTurn, TurnContent, TurnFacts } from "../store.ts";
import { prepareAncestor } from "./ancestry.ts";
import type { MessageInput, ToolCallInput } from "./journal.ts";
import { checkCount } from "./page.ts";
import { defined, parseJson, known, maybe } from "./row.ts";
import { turnUnknown } from "./unknown.ts";

interface TurnRow {
  readonly key: number;
  readonly id: TurnId;
  readonly parent: TurnId | null;
  readonly depth: number;
  readonly type: "normal" | "compaction";
  readonly status: "completed" | "aborted";
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly role: "manager" | "worker";
  readonly profile: string;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_usd: number | null;
  readonly tool_calls: number;
  readonly permissions: string | null;
  readonly source: EventId | null;
  readonly started_ms: number;
  readonly completed_ms: number;
  readonly hash: string;
  readonly principal: Principal | null;
  readonly trust: string | null;
  readonly pruned_ms: number | null;
  readonly children: number;
}

type Keyed<T> = T & { readonly turn: number };

const TURN_COLUMNS = `t.key, t.id, p.id as parent, t.depth, t.type, t.status, s.label as session, t.agent, t.persona,
  t.role, t.profile, t.provider, t.model, t.input_tokens, t.output_tokens, t.cache_read_tokens,
  t.cache_write_tokens, t.reasoning_tokens, t.cost_usd, t.tool_calls, t.permissions, e.id as source, t.started_ms,
  t.completed_ms, lower(hex(t.hash)) as hash, t.principal, t.trust, t.pruned_ms,
  (select count(*) from turn c where c.parent = t.key) as children`;

const TURN_TABLES = `join session s on s.key = t.session left join turn p on p.key = t.parent
  left join event e on e.seq = t.source`;

/**
 * The keys of a turn and its ancestors, back to the last compaction. At the first compaction, `stop` becomes the
 * oldest turn that it kept, and the walk ends there. It also ends before a pruned turn.
 */
const CONTEXT_KEYS = `with recursive chain (key, parent, stop, n) as (
    select key, parent, iif(type = 'compaction', coalesce(first_kept, key), null), 1 from turn where id = ?
    union all
    select t.key, t.parent,
           coalesce(c.stop, iif(t.type = 'compaction', coalesce(t.first_kept, t.key), null)), c.n + 1
    from chain c join turn t on t.key = c.parent
    where c.n < ? and (c.stop is null or c.stop <> c.key) and t.pruned_ms is null
  )`;

/** More turns than any model accepts. A thread that grows past this without a compaction is cut. */
const WHOLE_CONTEXT = 10_000;

export function prepareReadTurns(db: Database) {
  const findKey = db.prepare<[string], number>("select key from turn where id = ?").pluck();
  const findTurn = db.prepare<[string], TurnRow>(
    `select ${TURN_COLUMNS} from turn t ${TURN_TABLES} where t.id = ?`,
  );
  const findChildren = db.prepare<[string], TurnRow>(
    `select ${TURN_COLUMNS} from turn t ${TURN_TABLES} where p.id = ? order by t.completed_ms, t.key`,
  );
  const findThread = db.prepare<[string, number], TurnRow>(
    `with recursive chain (key, parent, n) as (
       select key, parent, 1 from turn where id = ?
       union all
       select t.key, t.parent, c.n + 1 from chain c join turn t on t.key = c.parent where c.n < ?
     )
     select ${TURN_COLUMNS} from chain join turn t on t.key = chain.key ${TURN_TABLES} order by chain.n`,
  );
  const idOf = db.prepare<[number], TurnId>("select id from turn where key = ?").pluck();
  const ancestorKey = prepareAncestor(db);
  const readContents = prepareContents(db);
  const readAttached = prepareAttached(db);

  return {
    get: (id: TurnId): StoredTurn | undefined => maybe(findTurn.get(id), toTurn),
    children: (id: TurnId): StoredTurn[] => findChildren.all(checkTurn(id)).map(toTurn),
    thread: (id: TurnId, { limit }: { limit: number }): StoredTurn[] =>
      findThread.all(checkTurn(id), checkCount(limit)).map(toTurn),
    read: (id: TurnId): TurnContent | undefined => readContents(id, 1)[0],
    context(id: TurnId, { limit = WHOLE_CONTEXT }: { limit?: number } = {}): Context {
      const read = readContents(checkTurn(id), checkCount(limit)).filter(
        ({ turn }) => turn.prunedAtMs === undefined,
      );
      return {
        compaction: read.find(({ turn }) => turn.type === "compaction"),
        turns: read.filter(({ turn }) => turn.type === "normal"),
      };
    },
    attached: (id: TurnId, { limit }: { limit: number }): Json[] =>
      readAttached(checkTurn(id), checkCount(limit)),
    ancestor(id: TurnId, depth: number): TurnId | undefined {
      const key = ancestorKey(known(findKey.get(id), turnUnknown, id), depth);
      return key === undefined ? undefined : idOf.get(key);
    },
  };

  function checkTurn(id: TurnId): TurnId {
    known(findKey.get(id), turnUnknown, id);
    return id;
  }
}

/** Reads a turn and those before it, back to the last compaction, with all that was said in them. Oldest first. */
function prepareContents(db: Database): (id: TurnId, limit: number) => TurnContent[] {
  const findTurns = db.prepare<[string, number], TurnRow>(
    `${CONTEXT_KEYS} select ${TURN_COLUMNS} from chain join turn t on t.key = chain.key ${TURN_TABLES}
     order by chain.n desc`,
  );
  const findMessages = db.prepare<[string, number], Keyed<MessageInput>>(
    `${CONTEXT_KEYS}
     select m.key / 65536 as turn, m.id, m.role, m.content, m.body, m.at_ms as atMs
     from chain join message m on m.key between chain.key * 65536 and chain.key * 65536 + 65535`,
  );
  const findCalls = db.prepare<[string, number], Keyed<ToolCallInput>>(
    `${CONTEXT_KEYS}
     select c.key / 65536 as turn, c.key % 65536 as ordinal, c.call_id as callId, c.tool, c.params, c.status, c.result,
            c.child_session as childSession, c.started_ms as startedAtMs, c.completed_ms as completedAtMs
     from chain join tool_call c on c.key between chain.key * 65536 and chain.key * 65536 + 65535`,
  );
  return (id, limit) => {
    const messages = Map.groupBy(findMessages.all(id, limit), ({ turn }) => turn);
    const calls = Map.groupBy(findCalls.all(id, limit), ({ turn }) => turn);
    return findTurns.all(id, limit).map((row) => ({
      turn: toTurn(row),
      messages: (messages.get(row.key) ?? []).map(toMessage),
      toolCalls: (calls.get(row.key) ?? []).map(toToolCall),
    }));
  };
}

/** Reads the attachments of the events of a thread: newest first, so that the walk ends with the last one needed. */
function prepareAttached(db: Database): (id: TurnId, limit: number) => Json[] {
  const isAny = db
    .prepare<[], 1>("select 1 from event indexed by event_attached where attachments is not null limit 1")
    .pluck();
  const find = db
    .prepare<[string, number], string>(
      `with recursive chain (key, parent, source) as (
         select key, parent, source from turn where id = ?
         union all
         select t.key, t.parent, t.source from chain c join turn t on t.key = c.parent
       )
       select e.attachments
       from chain c cross join event e indexed by event_attached
       where e.attachments is not null
         and e.seq in (select c.source union
                       select event from item indexed by item_merged where turn = c.key and state = 'merged')
       limit ?`,
    )
    .pluck();
  return (id, limit) => (isAny.get() === undefined ? [] : find.all(id, limit).map((text) => parseJson(text)));
}

function toTurn(row: TurnRow): StoredTurn {
  const permissions = parseJson(row.permissions) as TurnFacts["permissions"] | undefined;
  return {
    id: row.id,
    parent: row.parent ?? undefined,
    depth: row.depth,
    type: row.type,
    status: row.status,
    session: row.session,
    agent: row.agent,
    persona: row.persona,
    facts: {
      role: row.role,
      profile: row.profile,
      provider: row.provider,
      model: row.model,
      usage: {
        input: row.input_tokens,
        output: row.output_tokens,
        cacheRead: row.cache_read_tokens,
        cacheWrite: row.cache_write_tokens,
        reasoning: row.reasoning_tokens,
      },
      costUsd: row.cost_usd,
      ...(permissions === undefined ? {} : { permissions }),
    },
    toolCallCount: row.tool_calls,
    childCount: row.children,
    sourceEvent: row.source ?? undefined,
    startedAtMs: row.started_ms,
    completedAtMs: row.completed_ms,
    hash: row.hash,
    ...defined({ principal: row.principal, trust: parseJson(row.trust), prunedAtMs: row.pruned_ms }),
  };
}

export function toMessage(row: MessageInput): Message {
  const { id, role, content, body, atMs } = row;
  return { id, role, content, ...defined({ body: parseJson(body) }), atMs };
}

export function toToolCall(row: ToolCallInput): ToolCall {
  const { ordinal, callId, tool, params, status, startedAtMs } = row;
  return {
    ordinal,
    callId,
    tool,
    params: parseJson(params),
    status,
    startedAtMs,
    ...(row.result === null ? {} : { result: parseJson(row.result) }), // which may be null itself
    ...defined({
      completedAtMs: row.completedAtMs,
      childSession: row.childSession,
    }),
  };
}
