import { spaced } from "../../model/relevance.ts";
import { words } from "../../model/words.ts";
import { MAX_SEARCHED_CHARACTERS } from "../store.ts";
import { operation } from "./operation.ts";
import { required } from "./row.ts";
import { number, record } from "./wire.ts";

/** What one step takes in, if it is not one event: some milliseconds of the writer. */
const MAX_STEP_CHARACTERS = 128 * 1024;
/** Pages of the index that a step tidies up. Left to itself, SQLite would now and then do all of it at once. */
const MERGED_PAGES = 16;

interface Said {
  readonly seq: number;
  readonly channel: string;
  readonly text: string | null;
}

/**
 * Takes events into the index, in their order, and notes how far it has come in the same transaction: a crash
 * between two steps leaves nothing out and nothing twice.
 */
export const indexEvents = operation(record({ max: number }), (db) => {
  const readProgress = db.prepare<[], number>("select position from progress where job = 'search'").pluck();
  const readLast = db.prepare<[], number>("select coalesce(max(seq), 0) from event").pluck();
  const next = db.prepare<[number], Said>(
    `select e.seq, e.channel, substr(coalesce(e.content, m.content), 1, ${MAX_SEARCHED_CHARACTERS}) as text
     from event e left join message m on m.key = e.message where e.seq > ? order by e.seq limit 1`,
  );
  const insert = db.prepare("insert into search (rowid, content, channel) values (?, ?, ?)");
  const merge = db.prepare("insert into search (search, rank) values ('merge', ?)");
  const note = db.prepare("update progress set position = ? where job = 'search'");

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
      note.run(seq);
    }
    return { indexed: seq - before, waiting: required(readLast.get()) - seq };
  };
});

/** A channel as one word, whatever its name: so that a search in a channel that is seldom used is a short one. */
export function channelWord(channel: string): string {
  return Buffer.from(channel).toString("hex");
}
