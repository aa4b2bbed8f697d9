import type { Database } from "better-sqlite3";

import type { Scope } from "../../model/scopes.ts";
import { type Listed, type ListOptions, MAX_TOKENS, type StoredToken } from "../store.ts";
import { actorCodec, prepareAudit, withToken } from "./audit.ts";
import { operation, Refusal } from "./operation.ts";
import { listPage } from "./page.ts";
import { definedOf, maybe, orUndefined, parseJson, required } from "./row.ts";
import { tokenUnknown } from "./unknown.ts";
import { json, numberOrNull, record, text, words, wordsOrNull } from "./wire.ts";

const newTokenCodec = record({
  id: text,
  name: words,
  hash: text,
  can: json,
  person: wordsOrNull,
  expiresMs: numberOrNull,
  by: actorCodec,
});

export const createToken = operation(newTokenCodec, (db) => {
  const find = db.prepare<[string], string>("select hash from token where id = ?").pluck();
  const findNamed = db
    .prepare<[string], string>("select id from token where name = ? and revoked_ms is null")
    .pluck();
  const count = db.prepare<[], number>("select count(*) from token where revoked_ms is null").pluck();
  const insert = db.prepare(
    `insert into token (id, name, hash, can, person, created_ms, expires_ms)
     values (@id, @name, @hash, @can, @person, @nowMs, @expiresMs)`,
  );
  const audit = prepareAudit(db);
  return ({ by, ...token }, { nowMs }): null | Refusal => {
    const { id, name, can, person, expiresMs, hash } = token;
    if (find.get(id) === hash) return null; // the same call came before
    if (findNamed.get(name) !== undefined) return nameTaken(name);
    if (required(count.get()) >= MAX_TOKENS) return tooMany();
    insert.run({ ...token, nowMs });
    const expiresAt = expiresMs === null ? null : new Date(expiresMs).toISOString();
    const detail = withToken({ name, can: parseJson(can), person, expiresAt }, by.token);
    audit({ principal: by.principal, kind: "token.create", object: id, detail, atMs: nowMs });
    return null;
  };
});

export const revokeToken = operation(record({ id: text, by: actorCodec }), (db) => {
  const find = db.prepare<[string], { name: string; revoked_ms: number | null }>(
    "select name, revoked_ms from token where id = ?",
  );
  const revoke = db.prepare("update token set revoked_ms = ? where id = ?");
  const audit = prepareAudit(db);
  return ({ id, by }, { nowMs }): null | Refusal => {
    const token = find.get(id);
    if (token === undefined) return tokenUnknown(id);
    if (token.revoked_ms !== null) return null;
    revoke.run(nowMs, id);
    const detail = withToken({ name: token.name }, by.token);
    audit({ principal: by.principal, kind: "token.revoke", object: id, detail, atMs: nowMs });
    return null;
  };
});

export const noteTokenUsed = operation(record({ id: text }), (db) => {
  const note = db.prepare("update token set last_used_ms = ? where id = ?");
  return ({ id }, { nowMs }): null => {
    note.run(nowMs, id);
    return null;
  };
});

interface TokenRow {
  readonly key: number;
  readonly id: string;
  readonly name: string;
  readonly can: string;
  readonly person: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

const COLUMNS = `key, id, name, can, person, created_ms as createdAtMs, expires_ms as expiresAtMs,
  revoked_ms as revokedAtMs, last_used_ms as lastUsedAtMs`;

export function prepareReadTokens(db: Database) {
  const get = db.prepare<[string], TokenRow>(`select ${COLUMNS} from token where id = ?`);
  const find = db.prepare<[string], TokenRow>(`select ${COLUMNS} from token where hash = ?`);
  const list = db.prepare<[number, number], TokenRow>(
    `select ${COLUMNS} from token where key < ? order by key desc limit ?`,
  );
  return {
    get: (id: string): StoredToken | undefined => maybe(get.get(id), toToken),
    find: (hash: string): StoredToken | undefined => maybe(find.get(hash), toToken),
    list: (options: ListOptions = {}): Listed<StoredToken> =>
      listPage({
        name: "tokens",
        options,
        find: ([, key], limit) => list.all(key, limit),
        place: ({ key }) => [0, key],
        toItem: toToken,
      }),
  };
}

function toToken(row: TokenRow): StoredToken {
  return {
    ...definedOf(row, ["id", "name", "person", "createdAtMs", "expiresAtMs"]),
    can: parseJson(row.can) as readonly Scope[],
    ...orUndefined(row, ["revokedAtMs", "lastUsedAtMs"]),
  };
}

function nameTaken(name: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Token "${name}" already exists`,
    "Choose another name, or revoke it first: `cortex tokens list` shows its id.",
  );
}

function tooMany(): Refusal {
  return new Refusal(
    "limit_invalid",
    `Too many tokens (limit ${MAX_TOKENS})`,
    "Revoke unused ones; `cortex tokens list` shows when each was last used.",
  );
}
