/** Whether answers have arrived where they were to go: each at least once, with one id, and in order. */
import type { Database } from "better-sqlite3";

import type { Received } from "../../support/webhook-receiver.ts";
import { list } from "../structure.ts";

interface ChunkRow {
  readonly id: string;
  readonly content: string;
  readonly state: string;
  readonly target: string;
}

/** Everything that was to be sent, in the order in which it was to leave. */
function chunksIn(db: Database): ChunkRow[] {
  const chunks = db.prepare<[], ChunkRow>(
    `select d.id || '-' || c.place as id, c.content, c.state, d.target from delivery d
     join chunk c on c.delivery = d.key order by d.key, c.place`,
  );
  return chunks.all();
}

/** Between two lives. `doubtful` are the messages that were under way at a death, and grows. */
export function deliveries(db: Database, received: readonly Received[], doubtful: Set<string>): string[] {
  const chunks = chunksIn(db);
  const arrived = Map.groupBy(received, ({ headers }) => String(headers["idempotency-key"]));
  const known = new Map(chunks.map((chunk) => [chunk.id, chunk]));
  const strange = [...arrived].flatMap(([id, times]) =>
    arrivalProblems(id, times, { chunk: known.get(id), doubtful }),
  );
  const lost = chunks.filter(({ id, state }) => state === "sent" && !arrived.has(id));
  const doubted = chunks.filter(({ id, state }) => state === "unknown" && !doubtful.has(id));
  for (const { id, state } of chunks) if (state === "sending") doubtful.add(id);
  return [
    ...strange,
    ...lost.map(({ id }) => `${id} is sent, and has not arrived`),
    ...doubted.map(({ id }) => `${id} is unknown, and was not cut off`),
  ];
}

/** A message is known, and arrives again only where nobody could know that it had arrived: as the same, and marked. */
function arrivalProblems(
  id: string,
  [first, ...more]: readonly Received[],
  { chunk, doubtful }: { readonly chunk: ChunkRow | undefined; readonly doubtful: ReadonlySet<string> },
): string[] {
  if (chunk === undefined) return [`${id} arrived, and nobody knows of it`];
  const problems: string[] = [];
  if (chunk.state === "pending") problems.push(`${id} arrived before it was noted that it is sent`);
  if (first!.json["content"] !== chunk.content) problems.push(`${id} arrived as something else`);
  if (more.some(({ body }) => body !== first!.body)) problems.push(`${id} arrived again as something else`);
  if (more.some(({ headers }) => headers["x-cortex-repeat"] !== "true"))
    problems.push(`${id} arrived again, and does not say so`);
  if (more.length > 0 && !doubtful.has(id)) problems.push(`${id} was sent again, and had not been cut off`);
  return problems;
}

/** When all is sent. */
export function deliveriesAtRest(db: Database, received: readonly Received[]): string[] {
  const unsent = db
    .prepare<[], string>("select id || ' is ' || state from delivery where state <> 'sent'")
    .pluck();
  return [
    ...unsent.all().map((each) => `delivery ${each}`),
    ...list(
      db,
      "delivery that is not the answer of its turn",
      `select d.id from delivery d join message m on m.key = d.message
       where m.content <> (select group_concat(c.content, '' order by c.place) from chunk c where c.delivery = d.key)`,
    ),
    ...outOfOrder(db, received),
    ...wishes(db),
  ];
}

/** What arrived for the first time arrived in the order of the deliveries to the same place. */
function outOfOrder(db: Database, received: readonly Received[]): string[] {
  const first = new Set(received.map(({ headers }) => String(headers["idempotency-key"])));
  const targets = new Map(chunksIn(db).map(({ id, target }) => [id, target]));
  const arrived = Map.groupBy(first, (id) => targets.get(id));
  return [...Map.groupBy(targets.keys(), (id) => targets.get(id))].flatMap(([target, ids]) => {
    const order = arrived.get(target) ?? [];
    return order.join() === ids.join() ? [] : [`${target} has got ${order.join()}, and not ${ids.join()}`];
  });
}

interface Wish {
  readonly turn: string;
  readonly wanted: string | null;
  readonly sent: string | null;
}

/**
 * An answer is delivered once where its messages asked for that, and nowhere else; so is the notice of a dead letter. What a
 * worker says meanwhile has no say in that.
 */
function wishes(db: Database): string[] {
  const answers = db.prepare<[], Wish>(
    `select t.id as turn,
       (select d.delivery ->> 'place' from item i join dispatch d on d.item = i.key join event e on e.seq = i.event
          where i.turn = t.key and exists (select 1 from event where id = 'cortex:' || t.id)
          order by e.id like 'agent:%' and e.metadata ->> 'kind' = 'message', i.key limit 1) as wanted,
       (select group_concat(place) from delivery where turn = t.key) as sent
     from turn t where t.type = 'normal'`,
  );
  const notices = db.prepare<[], Wish>(
    `select r.turn_id as turn,
       (select group_concat(d.delivery ->> 'place' order by i.key) from item i join dispatch d on d.item = i.key
          where i.turn = r.turn and i.state = 'dead') as wanted,
       (select group_concat(place order by key) from delivery where turn = r.turn) as sent
     from run r where r.state = 'failed' and r.turn not in (select key from turn) group by r.turn`,
  );
  return [...answers.all(), ...notices.all()]
    .filter(({ wanted, sent }) => wanted !== sent)
    .map(
      ({ turn, wanted, sent }) =>
        `${turn} was to be delivered to ${wanted}, and was to ${sent}: ${JSON.stringify(messagesOf(db, turn))}`,
    );
}

/** What is needed to understand it: the home is gone when somebody reads this. */
function messagesOf(db: Database, turn: string): unknown[] {
  return db
    .prepare(
      `select i.key, i.state, i.mode, e.id as event, d.hook, d.outcome, d.delivery, r.state as run, r.attempt
       from run r join item i on i.turn = r.turn join event e on e.seq = i.event left join dispatch d on d.item = i.key
       where r.turn_id = ? order by i.key`,
    )
    .all(turn);
}
