import type { Database } from "better-sqlite3";

import { ATTACH_TOOL } from "../../model/attach-tool.ts";
import type { Extras } from "../../model/extras.ts";
import { DEFAULT_ACCOUNT, type DeliveryId, type TurnId } from "../../model/ids.ts";
import type {
  Chunk,
  DeliveryState,
  DeliveryTarget,
  Listed,
  ListOptions,
  OpenDeliveries,
  StoredDelivery,
} from "../store.ts";
import { columnsOf, namesOf, selectFields } from "./columns.ts";
import { DELIVERY_FIELDS } from "./insert-delivery.ts";
import { FIRST_KEY_OF_RUN, LAST_KEY_OF_RUN } from "./keys.ts";
import { listPage } from "./page.ts";
import { defined, maybe, orUndefined, parseJson } from "./row.ts";
import type { DecodedFields } from "./wire.ts";

interface DeliveryRow extends DecodedFields<typeof DELIVERY_FIELDS> {
  readonly key: number;
  readonly turn: TurnId | null;
  readonly state: DeliveryState;
  readonly attempt: number;
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly settledAtMs: number | null;
}

interface ChunkRow {
  readonly delivery: number;
  readonly content: string;
  readonly state: Chunk["state"];
  readonly platform_id: string | null;
  readonly repeated: number;
}

interface ChunkedRow {
  readonly row: DeliveryRow;
  readonly chunks: readonly ChunkRow[];
}

/** The fields of a delivery, each with the SQL that reads it. */
const DELIVERY_SQL = {
  ...columnsOf("d", DELIVERY_FIELDS),
  content: "coalesce(d.content, m.content)",
  turn: "(select r.turn_id from run r where r.key = d.turn)",
  state: "d.state",
  attempt: "d.attempt",
  error: "d.error",
  createdAtMs: "d.created_ms",
  settledAtMs: "d.settled_ms",
};

const COLUMNS = `d.key, ${selectFields(DELIVERY_SQL)}`;

const PLAIN_FIELDS = namesOf(DELIVERY_SQL, ["channel", "account", "place", "topic", "content", "extras"]);

const TABLES = "delivery d left join message m on m.key = d.message";

export function prepareReadOutbox(db: Database) {
  const find = db.prepare<[string], DeliveryRow>(`select ${COLUMNS} from ${TABLES} where d.id = ?`);
  // A turn that is not committed has the key of its first run.
  const findOfTurn = db.prepare<[string, string], DeliveryRow>(
    `select ${COLUMNS} from ${TABLES}
     where d.turn = (select key from turn where id = ?
                     union all select turn from run where turn_id = ? and state <> 'completed' limit 1)
     order by d.key`,
  );
  const listAll = db.prepare<[number, number], DeliveryRow>(
    `select ${COLUMNS} from ${TABLES} where d.key < ? order by d.key desc limit ?`,
  );
  const listState = db.prepare<[string, number, number], DeliveryRow>(
    `select ${COLUMNS} from ${TABLES} where d.state = ? and d.key < ? order by d.key desc limit ?`,
  );
  const listDead = db.prepare<[number, number], DeliveryRow>(
    `select ${COLUMNS} from ${TABLES} where d.state = 'dead' and d.key < ? order by d.key desc limit ?`,
  );
  const listDropped = db.prepare<[number, number], DeliveryRow>(
    `select ${COLUMNS} from ${TABLES} where d.state = 'dropped' and d.key < ? order by d.key desc limit ?`,
  );
  // The index of open deliveries is small; the order of keys would lead through all that are settled.
  const listOpen = db.prepare<[string, number, number], DeliveryRow>(
    `select ${COLUMNS}
     from (select key from delivery indexed by delivery_due where settled_ms is null and state = ? and +key < ?
           order by +key desc limit ?) w
       join ${TABLES.replace("delivery d", "delivery d on d.key = w.key")} order by d.key desc`,
  );
  const countOpen = db.prepare<[], OpenDeliveries>(
    `select channel, account, sum(1 - dead) as waiting, sum(dead) as dead
     from (select channel, account, 0 as dead from delivery indexed by delivery_due
           where settled_ms is null and state <> 'dead'
           union all select channel, account, 1 from delivery where state = 'dead')
     group by channel, account order by channel, account`,
  );
  const findChunks = db.prepare<[string], ChunkRow>(
    `select delivery, content, state, platform_id, repeated from chunk
     where delivery in (select value from json_each(?)) order by delivery, place`,
  );
  // An edit has the platform's id of the message that it changed.
  const findSent = db.prepare<[Record<string, string>], DeliveryRow>(
    `select ${COLUMNS} from chunk c indexed by chunk_sent join ${TABLES.replace("delivery d", "delivery d on d.key = c.delivery")}
     where c.platform_id = @platformId and d.channel = @channel and d.account = @account and d.place = @place
     order by d.key limit 1`,
  );
  const readFiled = db
    .prepare<[], string>(
      `select f.value ->> '$.sha256' from delivery d, json_each(d.extras, '$.files') f
       union select f.value ->> '$.sha256'
         from approval a, json_each(a.held, '$.approved') h, json_each(h.value ->> '$.extras', '$.files') f
         where a.answered_ms is null
       union select f.value ->> '$.sha256'
         from run r join tool_call c on c.key between ${FIRST_KEY_OF_RUN} and ${LAST_KEY_OF_RUN},
           json_each(c.result, '$.details.files') f
         where r.state <> 'completed' and c.tool = '${ATTACH_TOOL}'`,
    )
    .pluck();
  return {
    filed: (): string[] => readFiled.all(),
    findSent: (
      { channel, account = DEFAULT_ACCOUNT, place }: DeliveryTarget,
      platformId: string,
    ): StoredDelivery | undefined =>
      maybe(withChunks(findSent.all({ channel, account, place, platformId }))[0], toDelivery),
    get: (id: DeliveryId): StoredDelivery | undefined => maybe(withChunks(find.all(id))[0], toDelivery),
    ofTurn: (turn: TurnId): StoredDelivery[] => withChunks(findOfTurn.all(turn, turn)).map(toDelivery),
    list: (options: ListOptions & { state?: DeliveryState } = {}): Listed<StoredDelivery> =>
      listPage({
        name: "deliveries",
        options,
        find: ([, key], limit) => withChunks(findPage(options.state, key, limit)),
        place: ({ row }) => [0, row.key],
        toItem: toDelivery,
      }),
    open: (): OpenDeliveries[] => countOpen.all(),
  };

  function findPage(state: DeliveryState | undefined, key: number, limit: number): DeliveryRow[] {
    if (state === undefined) return listAll.all(key, limit);
    if (state === "dead") return listDead.all(key, limit);
    if (state === "dropped") return listDropped.all(key, limit);
    return (state === "sent" ? listState : listOpen).all(state, key, limit);
  }

  /** Reads the chunks of all deliveries at once: a statement for each would take longer than all the rest. */
  function withChunks(rows: readonly DeliveryRow[]): ChunkedRow[] {
    const keys = JSON.stringify(rows.map(({ key }) => key));
    const chunks = Map.groupBy(findChunks.all(keys), ({ delivery }) => delivery);
    return rows.map((row) => ({ row, chunks: chunks.get(row.key) ?? [] }));
  }
}

function toDelivery({ row, chunks }: ChunkedRow): StoredDelivery {
  const { channel, account, place, topic, content, extras } = row;
  return {
    ...orUndefined(row, PLAIN_FIELDS),
    target: { channel, account, place, ...defined({ topic }) },
    content: content ?? "",
    extras: parseJson(extras) as Extras | undefined,
    chunks: chunks.map(toChunk),
  };
}

function toChunk(row: ChunkRow): Chunk {
  const { content, state, platform_id, repeated } = row;
  return { content, state, platformId: platform_id ?? undefined, isRepeat: repeated === 1 };
}
