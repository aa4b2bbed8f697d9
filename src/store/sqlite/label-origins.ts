/** Keeps where each name in the label of a session came from: in the commit that adds it, the first time. */
import type { Database } from "better-sqlite3";

import type { LabelOrigin } from "../../model/label-origin.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { LABEL_SETS, type Trust } from "../../model/trust.ts";
import type { KeptOrigin } from "../store.ts";
import { oncePerDatabase } from "./once.ts";

export type NameOrigin = Pick<KeptOrigin, "kind" | "name" | "origin">;

export const prepareLabelOrigins = oncePerDatabase((db: Database) => {
  const insert = db.prepare(
    "insert or ignore into label_origin (session, kind, name, origin, at_ms) values (?, ?, ?, ?, ?)",
  );
  const remove = db.prepare("delete from label_origin where session = ? and kind = ? and name = ?");
  return {
    /** A name without an origin among `said` has `otherwise`. */
    note(
      session: number,
      { was, is }: { readonly was: Trust; readonly is: Trust },
      { said = [], otherwise }: { readonly said?: readonly NameOrigin[]; readonly otherwise: LabelOrigin },
      nowMs: number,
    ): void {
      for (const { kind, name } of namesIn(is)) {
        if (has(was, kind, name)) continue;
        const origin = said.find((each) => each.kind === kind && each.name === name)?.origin ?? otherwise;
        insert.run(session, kind, name, JSON.stringify(origin), nowMs);
      }
      for (const { kind, name } of namesIn(was)) if (!has(is, kind, name)) remove.run(session, kind, name);
    },
  };
});

function namesIn(trust: Trust): readonly Pick<KeptOrigin, "kind" | "name">[] {
  const named = LABEL_SETS.flatMap((kind) => trust[kind].map((name) => ({ kind, name })));
  return trust.outward ? [...named, { kind: "outward", name: "" }] : named;
}

function has(trust: Trust, kind: KeptOrigin["kind"], name: string): boolean {
  return kind === "outward" ? trust.outward : trust[kind].includes(name);
}

interface OriginRow {
  readonly kind: KeptOrigin["kind"];
  readonly name: string;
  readonly origin: string;
  readonly at_ms: number;
}

export function prepareReadOrigins(db: Database): (session: SessionKey) => KeptOrigin[] {
  const read = db.prepare<[string], OriginRow>(
    `select kind, name, origin, at_ms from label_origin
     where session = (select key from session where label = ?) order by at_ms, kind, name`,
  );
  return (session) =>
    read.all(session).map(({ kind, name, origin, at_ms: atMs }) => ({
      kind,
      name,
      origin: JSON.parse(origin) as LabelOrigin,
      atMs,
    }));
}
