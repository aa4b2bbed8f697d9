import type { Database } from "better-sqlite3";

import { auditHash } from "../../model/audit-hash.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import type {
  Actor,
  AuditEntry,
  AuditFilter,
  AuditKind,
  Listed,
  ListOptions,
  NewAuditEntry,
  NotedOutside,
} from "../store.ts";
import { oncePerDatabase } from "./once.ts";
import { operation } from "./operation.ts";
import { listPage, START } from "./page.ts";
import { maybe, parseJson } from "./row.ts";
import { json, record, text, textOf, words, wordsOrNull } from "./wire.ts";

/** Who decided, as operations receive it. */
export const actorCodec = record({ principal: words, token: wordsOrNull });

/** The detail of an entry, with the token by which its actor came. */
export function withToken(detail: { readonly [name: string]: Json }, token: string | null | undefined): Json {
  return token === null || token === undefined ? detail : { ...detail, token };
}

interface Head {
  readonly seq: number;
  readonly hash: Buffer;
}

/** Appends an entry inside the transaction that it records. Its texts must be without secrets already. */
export const prepareAudit = oncePerDatabase((db: Database) => {
  const findHead = db.prepare<[], Head>("select seq, hash from audit_entry order by seq desc limit 1");
  const insert = db.prepare(
    "insert into audit_entry (seq, at_ms, principal, kind, object, detail, hash) values (?, ?, ?, ?, ?, ?, ?)",
  );
  return (entry: NewAuditEntry & { readonly atMs: number }): void => {
    const head = findHead.get();
    const seq = (head?.seq ?? 0) + 1;
    const { atMs, kind, detail } = entry;
    const [principal, object] = [entry.principal.toWellFormed(), entry.object.toWellFormed()]; // as they are stored
    const hash = auditHash(head?.hash, { seq, atMs, principal, kind, object, detail });
    insert.run(seq, atMs, principal, kind, object, canonicalJson(detail), hash);
  };
});

/** The detail of the last entry of a kind, to see what has changed since. */
export function prepareLastOf(db: Database): (kind: AuditKind) => Json | undefined {
  const find = db
    .prepare<[string], string>("select detail from audit_entry where kind = ? order by seq desc limit 1")
    .pluck();
  return (kind) => maybe(find.get(kind), parseJson);
}

const entryCodec = record({ principal: words, kind: textOf<AuditKind>(), object: words, detail: json });

export const appendAudit = operation(entryCodec, (db) => {
  const audit = prepareAudit(db);
  return ({ detail, ...entry }, { nowMs }): null => {
    audit({ ...entry, detail: parseJson(detail), atMs: nowMs });
    return null;
  };
});

const notedCodec = record({
  kind: textOf<NotedOutside["kind"]>(),
  object: words,
  fingerprint: text,
  by: actorCodec,
});

export const noteOutside = operation(notedCodec, (db) => {
  const audit = prepareAudit(db);
  const findLast = db
    .prepare<[string, string], string>(
      "select detail from audit_entry where kind = ? and object = ? order by seq desc limit 1",
    )
    .pluck();
  return ({ kind, object, fingerprint, by }, { nowMs }): null => {
    const last = maybe(findLast.get(kind, object), parseJson) as { readonly fingerprint: string } | undefined;
    if (last?.fingerprint === fingerprint) return null;
    const detail = withToken({ fingerprint, before: last?.fingerprint ?? null }, by.token);
    audit({ principal: by.principal, kind, object, detail, atMs: nowMs });
    return null;
  };
});

interface AuditRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly principal: string;
  readonly kind: AuditKind;
  readonly object: string;
  readonly detail: string;
  readonly hash: Buffer;
}

export function prepareReadAudit(db: Database) {
  const list = db.prepare<[object], AuditRow>(
    `select seq, at_ms, principal, kind, object, detail, hash from audit_entry
     where seq < @seq and at_ms >= @sinceMs and (
       @person is null or principal in (@person, 'person:' || @person) or (kind glob 'person.*' and object = @person)
     )
     order by seq desc limit @limit`,
  );
  return {
    list(options: ListOptions & AuditFilter = {}): Listed<AuditEntry> {
      const { sinceMs = -START, person = null } = options;
      return listPage({
        name: "audit",
        options,
        find: ([, seq], limit) => list.all({ seq, sinceMs, person, limit }),
        place: ({ seq }) => [0, seq],
        toItem: toEntry,
      });
    },
  };
}

function toEntry({ at_ms: atMs, detail, hash, ...entry }: AuditRow): AuditEntry {
  return { ...entry, atMs, detail: parseJson(detail), hash: hash.toString("hex") };
}

/** Unless a caller says otherwise, the owner decides. */
export const OWNER: Actor = { principal: "owner" };

const PAGE = 1_000;

export type AuditVerdict =
  | { readonly ok: true; readonly audited: number }
  | { readonly ok: false; readonly entry: number; readonly problem: string };

/**
 * Recomputes the chain. Entries removed from its end leave a chain that matches, but the table remembers how many
 * there were.
 */
export function verifyAudit(db: Database): AuditVerdict {
  const page = db.prepare<[number, number], AuditRow>(
    "select seq, at_ms, principal, kind, object, detail, hash from audit_entry where seq > ? order by seq limit ?",
  );
  const findMade = db
    .prepare<[], number>("select seq from sqlite_sequence where name = 'audit_entry'")
    .pluck();
  const made = findMade.get() ?? 0; // before the entries, which may grow meanwhile
  let before: AuditRow | undefined;
  for (;;) {
    const rows = page.all(before?.seq ?? 0, PAGE);
    for (const row of rows) {
      const problem = problemOf(row, before);
      if (problem !== undefined) return { ok: false, ...problem };
      before = row;
    }
    if (rows.length === PAGE) continue;
    const audited = before?.seq ?? 0;
    if (audited >= made) return { ok: true, audited };
    return { ok: false, entry: audited + 1, problem: "it is missing" };
  }
}

function problemOf(row: AuditRow, before: AuditRow | undefined) {
  const { seq, at_ms: atMs, principal, kind, object } = row;
  const expected = (before?.seq ?? 0) + 1;
  if (seq !== expected) return { entry: expected, problem: "it is missing" };
  const detail = readDetail(row.detail);
  const isIntact =
    detail !== undefined &&
    auditHash(before?.hash, { seq, atMs, principal, kind, object, detail }).equals(row.hash);
  return isIntact ? undefined : { entry: seq, problem: "its content does not match its hash" };
}

/** Undefined: it was edited and is no longer JSON. */
function readDetail(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
