import type { Database } from "better-sqlite3";

import type { DeliveryId, TurnId } from "../../model/ids.ts";
import type { Chunk, DeliveryState, Listed, ListOptions, StoredDelivery } from "../store.ts";
import { selectFields } from "./columns.ts";
import { DELIVERY_FIELDS, type deliveryCodec } from "./insert-delivery.ts";
import { listPage } from "./page.ts";
import { defined, maybe, orUndefined } from "./row.ts";
import type { Decoded } from "./wire.ts";

interface DeliveryRow extends Omit<Decoded<typeof deliveryCodec>, "target"> {
  readonly key: number;
  readonly turn: TurnId | null;
  readonly state: DeliveryState;
  readonly attempt: number;
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly settledAtMs: number | null;
}

interface ChunkRow {
  readonly content: string;
  readonly state: Chunk["state"];
  readonly platform_id: string | null;
  readonly repeated: number;
}

const COLUMNS = `${selectFields("d", DELIVERY_FIELDS, ["target", "content"])},
  coalesce(d.content, m.content) as content, d.key, (select r.turn_id from run r where r.key = d.turn) as turn,
  d.state, d.attempt, d.error, d.created_ms as createdAtMs, d.settled_ms as settledAtMs`;

const TABLES = "delivery d left join message m on m.key = d.message";

export function prepareReadOutbox(db: Database) {
  const find = db.prepare<[string], DeliveryRow>(`select ${COLUMNS} from ${TABLES} where d.id = ?`);
  // A turn that is not there yet, or never will be, has its key from its first run.
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
  // The index of what is open holds little; the order of keys would lead through all that is settled.
  const listOpen = db.prepare<[string, number, number], DeliveryRow>(
    `select ${COLUMNS}
     from (select key from delivery indexed by delivery_due where settled_ms is null and state = ? and +key < ?
           order by +key desc limit ?) w
       join ${TABLES.replace("delivery d", "delivery d on d.key = w.key")} order by d.key desc`,
  );
  const chunks = db.prepare<[number], ChunkRow>(
    "select content, state, platform_id, repeated from chunk where delivery = ? order by place",
  );
  return {
    get: (id: DeliveryId): StoredDelivery | undefined => maybe(find.get(id), toDelivery),
    ofTurn: (turn: TurnId): StoredDelivery[] => findOfTurn.all(turn, turn).map(toDelivery),
    list: (options: ListOptions & { state?: DeliveryState } = {}): Listed<StoredDelivery> =>
      listPage({
        name: "deliveries",
        options,
        find: ([, key], limit) => findPage(options.state, key, limit),
        place: ({ key }) => [0, key],
        toItem: toDelivery,
      }),
  };

  function findPage(state: DeliveryState | undefined, key: number, limit: number): DeliveryRow[] {
    if (state === undefined) return listAll.all(key, limit);
    if (state === "dead") return listDead.all(key, limit);
    if (state === "dropped") return listDropped.all(key, limit);
    return (state === "sent" ? listState : listOpen).all(state, key, limit);
  }

  function toDelivery({ key, channel, account, place, topic, content, ...row }: DeliveryRow): StoredDelivery {
    return {
      ...orUndefined(row),
      target: { channel, account, place, ...defined({ topic }) },
      content: content ?? "",
      chunks: chunks.all(key).map(toChunk),
    };
  }
}

function toChunk(row: ChunkRow): Chunk {
  const { content, state, platform_id, repeated } = row;
  return { content, state, platformId: platform_id ?? undefined, isRepeat: repeated === 1 };
}
