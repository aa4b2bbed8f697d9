/** Whether calls were made at most once, and have had the effects that the ledger says they had. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";

import { placesIn } from "./served.ts";
import { type Call, markOf } from "./task.ts";

export interface CallRow {
  readonly tool: Call["name"];
  readonly params: string;
  readonly status: string;
}

/** What was appended was appended once, by a call that the ledger knew about. */
export function marks(db: Database, home: string): string[] {
  const called = callsByMark(db);
  const times = [...appended(home)];
  return [
    ...times.filter(([, n]) => n > 1).map(([mark, n]) => `${mark} was appended ${n} times`),
    ...times
      .filter(([mark]) => !called.has(mark))
      .map(([mark]) => `${mark} was appended by a call that is not in the journal`),
  ];
}

/** A call that has ended well has had its effect once; one that was not made, none. */
export function finishedCalls(db: Database, home: string): string[] {
  const times = appended(home);
  return [...callsByMark(db)].flatMap(([mark, calls]) => {
    const [{ tool, status }] = calls as [CallRow];
    if (calls.length > 1) return [`${mark} was called for ${calls.length} times`];
    const effects = tool === "Bash" ? (times.get(mark) ?? 0) : isWritten(home, mark) ? 1 : 0;
    if (status === "ok" && effects !== 1) return [`${mark} is done, and has had ${effects} effects`];
    if (status === "skipped" && effects !== 0) return [`${mark} was skipped, and has had an effect`];
    if (status === "error") return [`${mark} has failed`];
    return [];
  });
}

/**
 * The result of a call is kept before the next call begins: else a crash between them loses it. Workers that are
 * waited for are at work at the same time.
 */
export function orderOfCalls(db: Database): string[] {
  const calls = db.prepare<[], { call: string; turn: string }>(
    `select n.call_id as call, r.turn_id as turn from tool_call c
     join tool_call n on n.key = c.key + 1 and n.key / 65536 = c.key / 65536 join run r on r.key = c.key / 65536
     where c.completed_ms > n.started_ms and c.tool not in ('dispatch_to_agent', 'sub_agent')`,
  );
  return calls
    .all()
    .map(({ call, turn }) => `${call} of ${turn} began before the call before it had its result`);
}

function callsByMark(db: Database): Map<string, CallRow[]> {
  const calls = db.prepare<[], CallRow>("select tool, params, status from tool_call").all();
  const marked = calls.flatMap((call) => {
    const mark = markOf({ name: call.tool, args: JSON.parse(call.params) as Call["args"] });
    return mark === undefined ? [] : [{ mark, call }];
  });
  const byMark = new Map<string, CallRow[]>();
  for (const { mark, call } of marked) byMark.set(mark, [...(byMark.get(mark) ?? []), call]);
  return byMark;
}

function appended(home: string): Map<string, number> {
  const times = new Map<string, number>();
  for (const mark of readFileSync(placesIn(home).log, "utf8").split("\n").slice(0, -1))
    times.set(mark, (times.get(mark) ?? 0) + 1);
  return times;
}

function isWritten(home: string, mark: string): boolean {
  const path = join(placesIn(home).workspace, "marks", mark);
  return existsSync(path) && readFileSync(path, "utf8") === mark;
}
