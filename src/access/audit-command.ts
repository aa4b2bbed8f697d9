import { limitOf, openLedger } from "../client/ledger.ts";
import { type Invocation, text } from "../feature/command.ts";
import { momentOf } from "../feature/moment.ts";
import { pageOf } from "../feature/page.ts";
import { present } from "../model/present.ts";
import { reveal } from "../model/reveal.ts";
import { moment, shorten, table } from "../terminal/text.ts";
import { auditView, type AuditView } from "./views.ts";

const MAX_DETAIL_LENGTH = 100;

export async function listAudit(given: Invocation): Promise<void> {
  const sinceMs = momentOf(given, "since", Date.now());
  const filter = present({ sinceMs, person: text(given, "person") });
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.audit.list({ limit: limitOf(given), ...filter }), auditView);
  given.print.data(page, () => (page.items.length === 0 ? "No entries." : table(page.items.map(rowOf))));
}

function rowOf({ seq, at, principal, kind, object, detail }: AuditView): string[] {
  const shown = JSON.stringify(detail);
  const facts = shown === "{}" ? "" : shorten(shown, MAX_DETAIL_LENGTH);
  return [String(seq), moment(at), ...[principal, kind, object, facts].map((part) => reveal(part))];
}
