/** How a connection lives and ends: quiet is healthy, deaf is not, and what was missed comes later. */
import { HOUR_MS, MINUTE_MS } from "../model/durations.ts";
import type { Where } from "../channels/kit/counterpart.ts";
import { checkViolations } from "./check-out.ts";
import { eventually, must } from "./expect.ts";
import type { Subject } from "./subject.ts";
import { World } from "./world.ts";

const DM: Where = { kind: "dm", person: 0 };
/** Longer than the first pause before a new connection. */
const BACKOFF_MS = 10_000;

export async function checkDeafTransport(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const { counterpart, can } = world;
  counterpart.say({ where: DM, person: 0, text: "first" });
  await world.answer(DM, "echo first");
  await world.acknowledged();
  counterpart.deafen();
  counterpart.say({ where: DM, person: 0, text: "into the void" });
  await world.jump(can.proofMs + MINUTE_MS);
  const { state } = world.status();
  must(`stale after ${can.proofMs} ms without a sign of life`, state, state === "stale");
  await world.jump(BACKOFF_MS);
  await world.live();
  const copies = await world.answer(DM, "echo into the void");
  must("one answer to what was missed", copies, copies.length === 1);
  await world.acknowledged();
  await eventually(
    "one receiving connection",
    () => counterpart.receivers,
    (receivers) => receivers === 1,
  );
  checkViolations(world);
}

export async function checkSilence(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const { sinceMs } = world.status();
  await world.pass(HOUR_MS);
  const found = world.status();
  must("the same connection after an hour of silence", { before: sinceMs, ...found }, isSame(found));
  checkViolations(world);

  function isSame(status: typeof found): boolean {
    return status.state === "live" && status.sinceMs === sinceMs;
  }
}

export async function checkOneReceiver(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  const { counterpart } = world;
  for (let times = 0; times < 3; times++) {
    world.cortex.channels.reconnect(world.name);
    await eventually(
      "live again, or a pause because of the connection before",
      () => world.status(),
      ({ state }) => state !== "connecting",
    );
  }
  await world.jump(MINUTE_MS);
  await world.live();
  await eventually(
    "one receiving connection",
    () => counterpart.receivers,
    (receivers) => receivers === 1,
  );
  counterpart.say({ where: DM, person: 0, text: "still there" });
  const copies = await world.answer(DM, "echo still there");
  must("one answer", copies, copies.length === 1);
  checkViolations(world);
}

/** Cut connections and slow answers lose nothing. */
export async function checkCuts(subject: Subject): Promise<void> {
  await using world = await World.open(subject, { speed: 10 });
  const { counterpart } = world;
  counterpart.delay(30);
  const texts = Array.from({ length: 6 }, (_, n) => `cut ${n} off`);
  for (const [at, text] of texts.entries()) {
    counterpart.say({ where: DM, person: 0, text });
    if (at % 2 === 0) counterpart.cut();
    await world.answer(DM, `echo ${text}`);
  }
  await world.acknowledged();
  const received = (await world.events()).map(({ content }) => content);
  must("each message once, in order", received, JSON.stringify(received) === JSON.stringify(texts));
  checkViolations(world);
}

export async function checkCredentials(subject: Subject): Promise<void> {
  await using world = await World.open(subject);
  world.counterpart.revoke();
  const { error } = await eventually(
    "the state refused",
    () => world.status(),
    ({ state }) => state === "refused",
  );
  const told = world.log.filter((line) => line.includes(world.name));
  must(
    "a reason, in the state and in the log",
    { error, told },
    error !== undefined && error !== "" && told.length > 0,
  );
  await world.jump(HOUR_MS);
  must(
    "no further attempts until a person reconnects it",
    world.status().state,
    world.status().state === "refused",
  );
}
