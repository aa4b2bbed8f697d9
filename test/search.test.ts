/** Search from outside: the command line on a home, with and without a server. */
import { expect, test } from "vitest";

import { databasePath, makeHome } from "../src/config/home.ts";
import { SEARCHED_TAIL } from "../src/store/store.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { openWarmStore } from "./support/open-store.ts";
import { event, START_MS, testClock } from "./support/sample.ts";
import { temporaryFolder } from "./support/temporary.ts";

test("`cortex search` finds what was said, with nobody there to index it", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  makeHome(home);
  const store = await openWarmStore({ path: databasePath(home), clock: testClock() });
  await store.events.accept(event("old", { content: "the first boat" }));
  for (let i = 0; i < SEARCHED_TAIL - 2; i++) void store.events.accept(event(`n${i}`, { content: null }));
  await store.events.accept(event("mail", { content: "A boat\nfor Ada", channel: "email", sender: "bob" }));
  await store.events.accept(event("late", { content: "boats", atMs: START_MS + 1_000 }));
  await store[Symbol.asyncDispose]();

  const { code, out, err } = await run(home, ["search", "boat", "ada"]);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^\S+ \S+ +email +bob +test:mail +A boat for Ada\n.*test:late +boats\n$/),
  });
  expect(err).toMatch(/^The search index is behind: 1 older event not searched\./);
  expect(await runJson(home, "search", "boat", "--channel", "email")).toEqual({
    items: [
      {
        eventId: "test:mail",
        turnId: null,
        channel: "email",
        direction: "received",
        sender: "bob",
        place: expect.toBeOneOf([null, expect.any(String)]),
        timestamp: new Date(START_MS).toISOString(),
        principal: "guest:test:tyler",
        labels: { untrusted: ["room:email:dm-1"], private: ["room:email:dm-1"], denied: [] },
        text: "A boat\nfor Ada",
        score: expect.any(Number),
      },
    ],
    next: null,
    unsearched: 1,
  });
  const since = new Date(START_MS + 1).toISOString();
  expect(await runJson(home, "search", "boats", "--since", since)).toMatchObject({
    items: [{ eventId: "test:late" }],
  });
  expect(await run(home, ["search", "boats", "--until", "2001-01-01"])).toMatchObject({
    code: 0,
    out: "No matches.\n",
  });
});

test("`cortex search` reads beside a server, and says what is wrong with what it was asked", async () => {
  using folder = temporaryFolder();
  await using _ = await startServer(folder.path);
  await run(folder.path, ["send", "remember the harbour", "--wait"]);
  expect(await run(folder.path, ["search", '"harbour'])).toMatchObject({
    code: 0,
    out: expect.stringContaining("remember the harbour"),
  });
  for (const [args, complaint] of [
    [["search"], /Missing required argument 'text'/],
    [["search", "x", "--limit", "101"], /The limit 101 is too high\.\n.*100 or fewer/],
    [["search", "x", "--since", "soon"], /Invalid time "soon"\.\n.*2026-03-01/],
  ] as const) {
    expect(await run(folder.path, args)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(complaint),
    });
  }
});
