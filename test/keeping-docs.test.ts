/** What docs/keeping.md shows, as a reader would try it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { MAX_ARCHIVED_BYTES } from "../src/runtime/home-files.ts";
import { MIN_PRUNED_AGE_MS } from "../src/runtime/prune.ts";
import { run, runJson, startServer } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary.ts";

const page = readFileSync(new URL("../docs/keeping.md", import.meta.url), "utf8");

test("the commands of docs/keeping.md work, one after the other", async () => {
  using home = temporaryFolder();
  using folder = temporaryFolder();
  await using server = await startServer(home.path);
  const { turnId } = (await runJson(home.path, "send", "hello", "--wait")) as { turnId: string };
  await run(home.path, ["fork", turnId, "and tomorrow?", "--session", "tomorrow", "--wait"]);
  const lines = Array.from(page.matchAll(/```sh\n(.*?)```/gs), ([, block]) =>
    block!.trimEnd().split("\n"),
  ).flat();
  expect(lines.length).toBeGreaterThan(6);
  for (const line of lines) {
    const words = line.replaceAll("~/", `${folder.path}/`).split(" ").slice(1);
    expect([line, await run(home.path, words)]).toEqual([
      line,
      expect.objectContaining({ code: 0, err: "" }),
    ]);
  }
  expect(server.child.exitCode).toBe(null);
});

test("the limits in docs/keeping.md are those of the program", () => {
  expect(page).toContain(`files over ${MAX_ARCHIVED_BYTES / 1_024 ** 2} MiB`);
  expect(page).toContain("less than a day old");
  expect(MIN_PRUNED_AGE_MS).toBe(24 * 3_600_000);
});
