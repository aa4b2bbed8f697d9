import { expect, test } from "vitest";

import { MAX_ARCHIVED_BYTES } from "../src/store/sqlite/backup-archive.ts";
import { MIN_PRUNED_AGE_MS } from "../src/keep/prune.ts";
import { readPage } from "./support/docs.ts";

test("the limits in docs/keeping.md are those of the program", () => {
  const page = readPage("docs/keeping.md");
  expect(page).toContain(`files over ${MAX_ARCHIVED_BYTES / 1_024 ** 2} MiB`);
  expect(page).toContain("less than a day old");
  expect(MIN_PRUNED_AGE_MS).toBe(24 * 3_600_000);
});
