/**
 * The two hooks that the architecture document of the unified system shows, as they stand there, completed by what they
 * leave out: imports, a constant, the SQL.
 */
import { expect, test } from "vitest";

import type { EventId } from "../src/model/ids.ts";
import { openTestCortex } from "./support/home.ts";
import { acceptOwn } from "./support/own-event.ts";

const SCHEDULED = `
import { cronMatches } from 'cortexd/hooks';
const SCHEDULE = '0 9 * * *';

export default async function(ctx: HookContext): Promise<HookResult> {
  const { event } = ctx;
  if (event.channel !== 'timer') return { fire: false };
  
  if (!cronMatches(SCHEDULE, ctx.now)) return { fire: false };
  
  // Time to fire!
  return { fire: true, routing: { persona: 'atlas' }, context: { prompt: '...' } };
}
`;

const STRUCTURE = `/**
 * @name Human Readable Name
 * @description What this hook does
 * @mode persistent | one-shot
 */
import Database from 'better-sqlite3';

export default async function(ctx: HookContext): Promise<HookResult> {
  const { event, dbPath, search, llm, now, hook } = ctx;
  
  // Fast exit for non-matching
  if (event.channel !== 'imessage') return { fire: false };
  
  // Optional: query cortex via SQL
  const db = new Database(dbPath, { readonly: true });
  const history = db.prepare('SELECT * FROM events WHERE channel = ?').all('imessage');
  db.close();
  
  // Optional: semantic search
  const similar = await search("relevant query", { limit: 5 });
  
  // Optional: LLM evaluation (always gemini-3-flash-preview)
  const response = await llm("Is this X? Return JSON.", { json: true });
  const analysis = JSON.parse(response);
  
  return {
    fire: true,
    routing: { agent_id: 'atlas' },
    context: { prompt: '...', extracted: analysis },
    disable_hook: false  // true for one-shot
  };
}
`;

test("the hooks of the architecture document work when they are dropped into the folder", async () => {
  await using cortex = await openTestCortex({
    cortex: { timezone: "Europe/Berlin", channels: { paired: [{ channel: "imessage", sender: "mom" }] } },
    script: `- { when: 'Is this X', plays: [{ say: '{"is_x": true}' }] }\n- { when: .*, plays: [{ say: done }] }`,
    hooks: { "scheduled.ts": SCHEDULED, "structure.ts": STRUCTURE },
  });
  expect(await cortex.store.hooks.list()).toMatchObject([
    { name: "scheduled", state: "active" },
    { name: "structure", state: "active", title: "Human Readable Name", mode: "persistent" },
  ]);
  const fired = async (event: EventId): Promise<string[]> => {
    await expect
      .poll(async () => (await cortex.store.hooks.unjudged()).map((unjudged) => unjudged.event.id))
      .not.toContain(event);
    const runs = await cortex.store.hooks.ofEvent(event);
    expect(runs.map(({ error }) => error)).toEqual([undefined, undefined]);
    return runs.filter((run) => run.fired).map(({ hook }) => hook);
  };
  const tick = (atMs: number) =>
    acceptOwn(cortex, {
      adapter: "timer",
      sourceId: { kind: "minute", atMs },
      channel: "timer",
      content: null,
      timestampMs: atMs,
    });

  const nine = await tick(Date.UTC(2026, 6, 1, 7)); // nine in Berlin
  const later = await tick(Date.UTC(2026, 6, 1, 9));
  const said = await cortex.accept({
    adapter: "imessage",
    sourceId: "1",
    channel: "imessage",
    sender: "mom",
    place: "mom",
    content: "hello",
    timestampMs: Date.UTC(2026, 6, 1, 7),
  });
  expect(await fired(nine.event)).toEqual(["scheduled"]);
  expect(await fired(later.event)).toEqual([]);
  expect(await fired(said.event)).toEqual(["structure"]);
  const [dispatch] = await cortex.store.events.dispatches(said.event);
  expect(dispatch).toMatchObject({ session: "agent:main:main" });
  expect(await cortex.store.queue.item(dispatch!.item)).toMatchObject({
    dispatches: [{ context: { prompt: "...", extracted: { is_x: true } } }],
  });
});
