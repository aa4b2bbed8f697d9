import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import type { Principal } from "../../model/principal.ts";
import { parseTrust, type Label } from "../../model/trust.ts";
import type { LabelledCommand, WrittenFile } from "../labels.ts";
import { MAX_PAGE } from "../limits.ts";
import { operation } from "./operation.ts";
import { parseJson } from "./row.ts";
import { type Decoded, json, list, number, optional, record, text, textOrNull, words } from "./wire.ts";

const writtenCodec = record({
  path: text,
  sha256: text,
  size: number,
  label: json,
  principal: words,
  turn: textOrNull,
  atMs: number,
});

type WrittenInput = Decoded<typeof writtenCodec>;

export const willWrite = operation(record({ file: writtenCodec }), (db) => {
  const put = preparePut(db);
  return ({ file }): null => {
    put(file);
    return null;
  };
});

export const hasWritten = operation(record({ path: text, sha256: textOrNull }), (db) => {
  const forget = db.prepare("delete from written_file where path = ? and sha256 is not ?");
  return ({ path, sha256 }): null => {
    forget.run(path, sha256);
    return null;
  };
});

export const beginCommand = operation(
  record({ id: text, folders: json, label: json, principal: words, turn: text, startedMs: number }),
  (db) => {
    const insert = db.prepare(
      `insert or ignore into labelled_command (id, folders, label, principal, turn, started_ms)
       values (@id, @folders, @label, @principal, @turn, @startedMs)`,
    );
    return (input): null => {
      insert.run(input);
      return null;
    };
  },
);

export const endCommand = operation(
  record({ id: text, endedMs: number, files: optional(list(writtenCodec)) }),
  (db) => {
    const end = db.prepare("update labelled_command set ended_ms = ? where id = ? and ended_ms is null");
    const remove = db.prepare("delete from labelled_command where id = ?");
    const forget = db.prepare("delete from written_file where path = ?");
    const put = preparePut(db);
    return ({ id, endedMs, files }): null => {
      if (files === undefined) end.run(endedMs, id);
      else {
        for (const file of files) {
          forget.run(file.path);
          put(file);
        }
        remove.run(id);
      }
      return null;
    };
  },
);

function preparePut(db: Database): (file: WrittenInput) => void {
  const put = db.prepare(
    `insert into written_file (path, sha256, size, label, principal, turn, at_ms)
     values (@path, @sha256, @size, @label, @principal, @turn, @atMs)
     on conflict (path, sha256) do update set
       size = excluded.size, label = excluded.label, principal = excluded.principal, turn = excluded.turn,
       at_ms = excluded.at_ms`,
  );
  return (file) => void put.run(file);
}

const COLUMNS = "path, sha256, size, label, principal, turn, at_ms as atMs";

export function prepareReadLabels(db: Database) {
  const ofPath = db.prepare<[string, number], WrittenRow>(
    `select ${COLUMNS} from written_file where path = ? limit ?`,
  );
  const others = db.prepare<
    [{ path: string; size: number; sha256: string | null; limit: number }],
    WrittenRow
  >(
    `select ${COLUMNS} from written_file
     where size = @size and path <> @path and (@sha256 is null or sha256 = @sha256) limit @limit`,
  );
  const under = db.prepare<[Under & { limit: number }], WrittenRow>(
    `select ${COLUMNS} from written_file where ${UNDER} order by path limit @limit`,
  );
  const labelsUnder = db
    .prepare<[Under], string>(`select distinct label from written_file where ${UNDER}`)
    .pluck();
  const commands = db.prepare<[number, number, number], CommandRow>(
    `select id, folders, label, principal, turn, max(started_ms) as startedAtMs, ended_ms as endedAtMs
     from labelled_command where started_ms <= ? and (ended_ms is null or ended_ms >= ?)
     group by folders, label, principal order by startedAtMs desc limit ?`,
  );
  const any = db
    .prepare<[], number>(
      "select exists (select 1 from written_file) or exists (select 1 from labelled_command)",
    )
    .pluck();
  return {
    areEmpty: (): boolean => any.get() === 0,
    ofFile: ({ path, size, sha256 = null }: OfFile): WrittenFile[] => {
      const own = ofPath.all(path, MAX_PAGE);
      const limit = MAX_PAGE - own.length;
      return [...own, ...others.all({ path, size, sha256, limit })].map(toWritten);
    },
    under: (folder: string, { limit }: { limit: number }): WrittenFile[] =>
      under.all({ ...boundsOf(folder), limit }).map(toWritten),
    labelsUnder: (folder: string): Label[] => labelsUnder.all(boundsOf(folder)).map(parseLabel),
    commands: ({ fromMs, untilMs }: { fromMs: number; untilMs: number }): LabelledCommand[] =>
      commands.all(untilMs, fromMs, MAX_PAGE).map(toCommand),
  };
}

interface OfFile {
  readonly path: string;
  readonly size: number;
  readonly sha256?: string | null | undefined;
}

interface Under {
  readonly folder: string;
  readonly from: string;
  readonly until: string;
}

const UNDER = "(path = @folder or (path >= @from and path < @until))";

function boundsOf(folder: string): Under {
  const from = folder.endsWith("/") ? folder : `${folder}/`;
  return { folder, from, until: `${from.slice(0, -1)}0` }; // 0 follows the slash
}

interface WrittenRow {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly label: string;
  readonly principal: Principal;
  readonly turn: TurnId | null;
  readonly atMs: number;
}

interface CommandRow {
  readonly id: string;
  readonly folders: string;
  readonly label: string;
  readonly principal: Principal;
  readonly turn: TurnId;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
}

function toWritten(row: WrittenRow): WrittenFile {
  return { ...row, label: parseLabel(row.label), turn: row.turn ?? undefined };
}

function toCommand(row: CommandRow): LabelledCommand {
  return {
    ...row,
    folders: JSON.parse(row.folders) as string[],
    label: parseLabel(row.label),
    endedAtMs: row.endedAtMs ?? undefined,
  };
}

export function parseLabel(stored: string | null): Label {
  const { outward: _, ...label } = parseTrust(parseJson(stored));
  return label;
}
