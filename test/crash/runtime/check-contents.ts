/** Whether turns hold what was said, and were answered with all of their thread that they were to know of. */
import type { Database } from "better-sqlite3";

import type { CallRow } from "./check-calls.ts";
import { callsIn, heard, isBeginningOf, nameIn, recalled } from "./task.ts";

interface TurnRow {
  readonly key: number;
  readonly id: string;
  readonly parent: number | null;
  readonly type: "normal" | "compaction";
  readonly status: "completed" | "aborted";
  readonly first_kept: number | null;
}

interface MessageRow {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

/** A thread up to a turn. */
interface Thread {
  /** The messages in it. */
  readonly names: readonly string[];
  /** What a turn after it is told: the last summary, and the turns that were kept or came since. */
  readonly told: readonly { readonly turn: number; readonly names: readonly string[] }[];
  readonly end: TurnRow | undefined;
}

export function contents(db: Database): string[] {
  const turns = db.prepare<[], TurnRow>(
    "select key, id, parent, type, status, first_kept from turn order by depth",
  );
  const messagesOf = db.prepare<[number], MessageRow>(
    "select id, role, content from message where key / 65536 = ? order by key",
  );
  const threads = new Map<number | null, Thread>([[null, { names: [], told: [], end: undefined }]]);
  const problems: string[] = [];
  for (const turn of turns.all()) {
    const before = threads.get(turn.parent)!;
    const messages = messagesOf.all(turn.key);
    const look = turn.type === "compaction" ? lookAtSummary : lookAtTurn;
    const { thread, wrong } = look(turn, messages, before);
    threads.set(turn.key, thread);
    problems.push(...wrong);
    if (turn.type === "normal")
      problems.push(...foreignItems(db, turn, messages), ...otherCalls(db, turn, messages));
  }
  return problems;
}

interface Looked {
  readonly thread: Thread;
  readonly wrong: string[];
}

/** A turn holds each message once, and its answer was made with what a turn there is told. */
function lookAtTurn(turn: TurnRow, messages: readonly MessageRow[], before: Thread): Looked {
  const own = messages.flatMap(({ role, content }) => (role === "user" ? [nameIn(content)] : []));
  const names = [...before.names, ...own];
  const told = [...before.told, { turn: turn.key, names: own }];
  const wrong: string[] = [];
  if (new Set(names).size < names.length)
    wrong.push(`the thread of ${turn.id} has a message twice: ${names.join(" ")}`);
  const answer = messages.findLast(({ role }) => role === "assistant")?.content;
  const right = heard(told.flatMap((each) => each.names));
  if (turn.status === "aborted" ? !isBeginningOf(answer, right) : answer !== right)
    wrong.push(`${turn.id} was answered without its thread: "${answer}", not "${right}"`);
  return { thread: { names, told, end: turn }, wrong };
}

/** A summary tells of its thread and of nothing else, and there was something to sum up. */
function lookAtSummary(turn: TurnRow, messages: readonly MessageRow[], before: Thread): Looked {
  const [summary] = messages;
  const names = recalled(summary?.content ?? "");
  const first = before.told.findIndex((each) => each.turn === turn.first_kept);
  const kept = first === -1 ? [] : before.told.slice(first);
  const wrong: string[] = [];
  if (messages.length !== 1 || names.length === 0 || names.some((name) => !before.names.includes(name)))
    wrong.push(`${turn.id} does not sum up its thread: "${summary?.content}"`);
  if (turn.first_kept !== null && first === -1)
    wrong.push(`${turn.id} keeps turns that are not in its thread`);
  // What the compaction before it kept can still be summed up, once.
  if (before.end?.type === "compaction" && (before.end.first_kept === null || turn.first_kept !== null))
    wrong.push(`the thread was compacted twice in the same place: ${before.end.id} and ${turn.id}`);
  return { thread: { names: before.names, told: [{ turn: turn.key, names }, ...kept], end: turn }, wrong };
}

function foreignItems(db: Database, { key, id }: TurnRow, messages: readonly MessageRow[]): string[] {
  const held = new Set(messages.flatMap((message) => (message.role === "user" ? [message.id] : [])));
  const items = db
    .prepare<[number], string>("select id from item where turn = ? and state in ('done', 'merged')")
    .pluck();
  return items
    .all(key)
    .filter((item) => !held.has(item))
    .map((item) => `message ${item} is settled by ${id}, which does not hold it`);
}

/** A turn makes the calls that it was told to make. A message that joins it makes the model do something else. */
function otherCalls(db: Database, turn: TurnRow, messages: readonly MessageRow[]): string[] {
  const asked = messages.filter(({ role }) => role === "user");
  if (asked.length !== 1) return [];
  const calls = db.prepare<[number], CallRow>(
    "select tool, params, status from tool_call where key / 65536 = ? order by key",
  );
  const made = calls.all(turn.key).map(({ tool, params }) => `${tool} ${params}`);
  const wanted = callsIn(asked[0]!.content).map(({ name, args }) => `${name} ${JSON.stringify(args)}`);
  const due = turn.status === "aborted" ? wanted.slice(0, made.length) : wanted;
  return due.join() === made.join()
    ? []
    : [`${turn.id} has made other calls than it was told: ${made.join()}`];
}
