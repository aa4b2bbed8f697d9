/** What a tool call that waits for a relay is told. */
import { count } from "../../model/count.ts";
import type { RelayId } from "../../model/ids.ts";
import type { ToolResult } from "../../model/tool.ts";
import { toRecord } from "./kept-relay.ts";
import { MAX_RESULT_LENGTH } from "../../delegation/outcome.ts";
import { readKept } from "../artifact/history.ts";
import { isTerminal, type RelayRecord } from "./record.ts";
import { finalOutput, summarise } from "./summary.ts";
import type { Store } from "../../store/store.ts";

/** Undefined: it is not over. The marks of its steps' sessions are the caller's since the commit that ended it. */
export async function readRelayResult(
  id: RelayId,
  { home, store: { relays } }: { readonly home: string; readonly store: Pick<Store, "relays"> },
): Promise<ToolResult | undefined> {
  const stored = await relays.get(id);
  if (stored === undefined) return { text: `There is no relay ${id}.`, isError: true };
  const record = toRecord(stored, await relays.steps(id));
  if (!isTerminal(record)) return undefined;
  const summary = summarise(record, Date.parse(record.endedAt!));
  const hash = record.steps.findLast(({ artifactHash }) => artifactHash !== null)?.artifactHash ?? null;
  const output = finalOutput(record, hash === null ? undefined : await readKept(home, hash));
  return {
    text: output === undefined ? summary : `${shorten(output.trim(), record)}\n\n[${summary}]`,
    isError: record.status !== "completed",
    details: { relay: id, status: record.status, artifact: record.artifactPath },
  };
}

/** As much as a model gets of one result; the rest it can read. */
function shorten(text: string, { artifactPath }: RelayRecord): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  const rest = text.length - MAX_RESULT_LENGTH;
  return `${text.slice(0, MAX_RESULT_LENGTH).toWellFormed()}\n(${count(rest, "more character is", "more characters are")} in ${artifactPath})`;
}
