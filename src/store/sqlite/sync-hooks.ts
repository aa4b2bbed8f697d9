import type { Database } from "better-sqlite3";

import type { HookState } from "../store.ts";
import { operation, type Refusal } from "./operation.ts";
import { actorCodec, prepareAudit, withToken } from "./audit.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { hookUnknown } from "./unknown.ts";
import { type Decoded, jsonOrNull, list, number, record, text, words, wordsOrNull } from "./wire.ts";

const hookFileCodec = record({
  name: text,
  title: words,
  description: words,
  mode: text,
  digest: text,
  filter: jsonOrNull,
  origin: text,
  startsDisabled: number,
  error: wordsOrNull,
});

type HookFileInput = Decoded<typeof hookFileCodec>;

/** The columns compared with the file: all that reloading it can change. */
interface Known {
  readonly key: number;
  readonly name: string;
  readonly digest: string;
  readonly present: number;
  readonly load_error: string | null;
}

type Changed = { readonly key: number; readonly state: HookState };

export const syncHooks = operation(record({ found: list(hookFileCodec) }), (db) => {
  const findAll = db.prepare<[], Known>("select key, name, digest, present, load_error from hook");
  const remove = db.prepare<[number], Changed>(
    "update hook set present = 0 where key = ? returning key, state",
  );
  const write = prepareWrite(db);
  const changes = prepareRecorder(db);
  return ({ found }, { nowMs }): null => {
    const known = new Map(findAll.all().map((hook) => [hook.name, hook]));
    for (const file of found) {
      const changed = write(file, known.get(file.name), nowMs);
      if (changed !== undefined) changes.hook(changed.key, changed.state);
      known.delete(file.name);
    }
    for (const { key, present } of known.values()) {
      if (present === 1) changes.hook(key, required(remove.get(key)).state);
    }
    return null;
  };
});

/** Undefined: unchanged. */
function prepareWrite(
  db: Database,
): (file: HookFileInput, known: Known | undefined, nowMs: number) => Changed | undefined {
  const insert = db.prepare<[object], Changed>(
    `insert into hook (name, title, description, mode, digest, filter, origin, enabled, present, load_error, created_ms)
     values (@name, @title, @description, @mode, @digest, @filter, @origin,
             @startsDisabled = 0 and @origin <> 'agent', 1, @error, @nowMs)
     returning key, state`,
  );
  // A person's earlier consent does not cover an agent's new version.
  const replace = db.prepare<[object], Changed>(
    `update hook set title = @title, description = @description, mode = @mode, digest = @digest, filter = @filter,
       origin = @origin, enabled = enabled and @origin <> 'agent', present = 1, load_error = @error,
       run_error = null, failures = 0, opened_ms = null
     where key = @key returning key, state`,
  );
  // The same content may load differently, for example after an imported file was repaired.
  const reload = db.prepare<[object], Changed>(
    `update hook set title = @title, description = @description, mode = @mode, filter = @filter, present = 1,
       load_error = @error
     where key = @key returning key, state`,
  );
  return (file, known, nowMs) => {
    if (known === undefined) return required(insert.get({ ...file, nowMs }));
    if (known.digest !== file.digest) return required(replace.get({ ...file, key: known.key }));
    if (known.present === 1 && known.load_error === file.error) return undefined;
    return required(reload.get({ ...file, key: known.key }));
  };
}

export const setHookEnabled = operation(record({ name: text, enabled: number, by: actorCodec }), (db) => {
  const find = db.prepare<[string], { key: number; state: HookState; enabled: number; digest: string }>(
    "select key, state, enabled, digest from hook where name = ?",
  );
  const enable = db.prepare<[number], HookState>(
    `update hook set enabled = 1, failures = 0, run_error = null, opened_ms = null where key = ? returning state`,
  );
  const disable = db.prepare<[number], HookState>(
    "update hook set enabled = 0 where key = ? returning state",
  );
  const changes = prepareRecorder(db);
  const audit = prepareAudit(db);
  return ({ name, enabled, by }, { nowMs }): null | Refusal => {
    const hook = find.get(name);
    if (hook === undefined) return hookUnknown(name);
    const state = (enabled === 0 ? disable : enable).pluck().get(hook.key)!;
    if (state !== hook.state || enabled !== hook.enabled) changes.hook(hook.key, state);
    if (enabled === hook.enabled) return null;
    const kind = enabled === 1 ? "hook.enable" : "hook.disable";
    const detail = withToken({ digest: hook.digest }, by.token);
    audit({ principal: by.principal, kind, object: name, detail, atMs: nowMs });
    return null;
  };
});
