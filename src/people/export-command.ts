import { openLedger } from "../client/ledger.ts";
import type { Invocation } from "../feature/command.ts";
import { guestPrincipal, personPrincipal } from "../model/principal.ts";
import { OWNER_ID } from "../model/person.ts";
import type { Ledger, Row } from "../store/store.ts";
import { requirePerson } from "./read-commands.ts";
import { personView } from "./views.ts";

/** Rows per query: each may hold a megabyte of text, and a query's result is bounded. */
const PAGE = 16;
const DEADLINE_MS = 60_000;

/** Parameters: the principals, for decisions the id, and `at` of the last row, which is unique. */
const PARTS = {
  event: `select seq as at, id, timestamp, channel, account, place, topic, direction, sender_id, content, content_type,
      metadata_json, payload_json, attachments_json, principal
    from events where principal in (select value from json_each(?)) and seq > ? order by seq limit ${PAGE}`,
  turn: `select t.id as at, t.id, t.session_label, t.started_at, t.completed_at, t.cost_usd, t.principal,
      (select json_group_array(json_object('role', m.role, 'content', m.content))
       from agent_messages m where m.turn_id = t.id) as messages_json
    from agent_turns t where t.principal in (select value from json_each(?)) and t.id > ? order by t.id limit ${PAGE}`,
  file: `select path || '#' || sha256 as at, path, sha256, size, label_json, principal, turn_id, written_at
    from written_files where principal in (select value from json_each(?)) and path || '#' || sha256 > ?
    order by at limit ${PAGE}`,
  decision: `select seq as at, seq, at as decided_at, principal, kind as decision, object, detail_json
    from audit where (principal in (select value from json_each(?)) or (kind like 'person.%' and object = ?)) and seq > ?
    order by seq limit ${PAGE}`,
} as const;

/** Prints one JSON value per line, whatever the options: it is for other programs, and for the person. */
export async function exportPerson({ home, args: [id = ""] }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const person = await requirePerson(id, ledger);
  const own = id === OWNER_ID ? OWNER_ID : personPrincipal(id);
  const principals = [own, ...person.identities.map(guestPrincipal)];
  print({ kind: "person", ...personView(person) });
  for (const kind of ["event", "turn", "file", "decision"] as const) {
    for await (const row of readAll(kind, { principals, id }, ledger)) print({ kind, ...toLine(row) });
  }
}

async function* readAll(
  part: keyof typeof PARTS,
  { principals, id }: { readonly principals: readonly string[]; readonly id: string },
  ledger: Pick<Ledger, "query">,
): AsyncGenerator<Row> {
  const sql = PARTS[part];
  const whose = [JSON.stringify(principals), ...(part === "decision" ? [id] : [])];
  for (let after: string | number = part === "event" || part === "decision" ? 0 : ""; ;) {
    const rows: Row[] = await ledger.query(sql, [...whose, after], { deadlineMs: DEADLINE_MS });
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!["at"] as string | number;
  }
}

/** JSON columns as JSON, without what pages are made with. */
function toLine(row: Row): object {
  const fields = Object.entries(row)
    .filter(([name]) => name !== "at")
    .map(([name, value]) =>
      name.endsWith("_json") && typeof value === "string"
        ? [name.slice(0, -"_json".length), JSON.parse(value) as unknown]
        : [name, value],
    );
  return Object.fromEntries(fields) as object;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
