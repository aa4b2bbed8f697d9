import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { openLedger } from "./ledger.ts";

test("what a Cortex that runs has on record is read beside it", async () => {
  await using cortex = await openTestCortex();
  await cortex.accept({ adapter: "x", sourceId: "1", channel: "x", content: "hi", timestampMs: 0 });
  await using ledger = await openLedger(cortex.home);
  expect((await ledger.events.list()).items).toMatchObject([{ id: "x:1", content: "hi" }]);
});

test("a home that was never used has no ledger", async () => {
  using folder = temporaryFolder();
  await expect(openLedger(folder.path)).rejects.toMatchObject({ code: "store_missing" });
});
