import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { RelayId } from "../../model/ids.ts";
import { toRecord } from "./kept-relay.ts";
import { importThreads, THREADS_FILE } from "./threads-file.ts";

const THREAD = { id: "thr_a1b2c3d4", status: "completed", activeAgent: "coder", steps: [] };

function homeWith(text: string | undefined) {
  const home = temporaryFolder();
  const file = join(home.path, THREADS_FILE);
  mkdirSync(text === undefined ? file : join(home.path, "data"), { recursive: true });
  if (text !== undefined) writeFileSync(file, text);
  return { ...home, write: (other: string) => writeFileSync(file, other) };
}

test.each([
  ["that is cut off", '{"thr_a1b2c3d4": {', /JSON/],
  ["that holds a text", '"threads"', /not a JSON object/],
  ["that is a folder", undefined, /EISDIR/],
])("a file %s is said to be, and read again at the next start", async (_, text, problem) => {
  using home = homeWith(text);
  await using opened = await openTestStore();
  const imported = await importThreads(opened.store, home.path, 0);
  expect(imported).toMatchObject({ relays: 0, problem: expect.stringMatching(problem) });
  if (text === undefined) return;
  home.write(JSON.stringify({ [THREAD.id]: THREAD }));
  expect(await importThreads(opened.store, home.path, 0)).toMatchObject({ relays: 1, skipped: 0 });
  expect(await importThreads(opened.store, home.path, 0)).toBeUndefined();
});

test("fields that are not what they should be are as in a new record", async () => {
  const slot = { slotId: "coder", profile: "p", status: "completed" };
  const odd = {
    ...THREAD,
    templateName: 7,
    channel: null,
    userMessage: ["a"],
    agents: { writer: null, coder: slot },
    totalCostUsd: "much",
    metadata: [],
    createdAt: "yesterday",
    steps: [null, { agentSlotId: 3, output: {}, costUsd: "1" }, { agentSlotId: "coder", output: "done" }],
  };
  using home = homeWith(
    JSON.stringify([odd, null, "x", { ...THREAD, id: "../../etc" }, { ...THREAD, status: 1 }]),
  );
  await using opened = await openTestStore();
  const { store } = opened;
  expect(await importThreads(store, home.path, 5)).toMatchObject({ relays: 1, skipped: 4 });
  const id = THREAD.id as RelayId;
  const record = toRecord((await store.relays.get(id))!, await store.relays.steps(id));
  expect(record).toMatchObject({
    templateName: null,
    channel: "",
    userMessage: "",
    agents: { coder: slot },
    totalCostUsd: 0,
    metadata: null,
    currentStepIndex: 2,
  });
  expect(record.steps).toMatchObject([
    { stepIndex: 0, agentSlotId: "", output: null, costUsd: null },
    { stepIndex: 1, agentSlotId: "coder", output: "done" },
  ]);
});
