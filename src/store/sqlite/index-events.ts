import { spaced } from "../../model/relevance.ts";
import { words } from "../../model/words.ts";
import { MAX_SEARCHED_CHARACTERS } from "../store.ts";
import { operation } from "./operation.ts";
import { required } from "./row.ts";
import { number, record } from "./wire.ts";

/** The size of one step, unless a single event is larger: a few milliseconds of the writer. */
const MAX_STEP_CHARACTERS = 128 * 1024;
/** Pages of the index that a step merges. Otherwise SQLite would occasionally merge everything at once. */
const MERGED_PAGES = 16;

interface Said {
  readonly seq: number;
  readonly channel: string;
  readonly text: string | null;
}

/** Reads the position of the index. */
export const INDEXED = "select cast(value as integer) from cursor where source = 'job:search'";

/**
 * Indexes events in order and stores the position in the same transaction: a crash between two steps neither skips
 * nor repeats an event.
 */
export const indexEvents = operation(record({ max: number }), (db) => {
  const readProgress = db.prepare<[], number>(INDEXED).pluck();
  const readLast = db.prepare<[], number>("select coalesce(max(seq), 0) from event").pluck();
  const next = db.prepare<[number], Said>(
    `select e.seq, e.channel, substr(coalesce(e.content, m.content), 1, ${MAX_SEARCHED_CHARACTERS}) as text
     from event e left join message m on m.key = e.message where e.seq > ? order by e.seq limit 1`,
  );
  const insert = db.prepare("insert into search (rowid, content, channel) values (?, ?, ?)");
  const merge = db.prepare("insert into search (search, rank) values ('merge', ?)");
  const note = db.prepare("update cursor set value = ? where source = 'job:search'");

  return ({ max }): { indexed: number; waiting: number } => {
    const before = required(readProgress.get());
    let seq = before;
    let characters = 0;
    for (let taken = 0; taken < max; taken++) {
      const said = next.get(seq);
      if (said === undefined) break;
      const text = said.text ?? "";
      if (taken > 0 && characters + text.length > MAX_STEP_CHARACTERS) break;
      characters += text.length;
      seq = said.seq;
      const content = spaced(words(text)).text.trim();
      if (content !== "") insert.run(seq, content, channelWord(said.channel));
    }
    if (seq > before) {
      merge.run(MERGED_PAGES);
      note.run(String(seq));
    }
    return { indexed: seq - before, waiting: required(readLast.get()) - seq };
  };
});

/** A channel as one indexed word, so that searching a rarely used channel is fast. */
export function channelWord(channel: string): string {
  return Buffer.from(channel).toString("hex");
}
