import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { keepArtifact } from "../artifact/artifact.ts";
import { readArtifactChanges, type RelayView } from "./views.ts";

/** What `show --diff` shows of an artifact that was like this after each step. */
async function changesOf(texts: readonly string[]) {
  using home = temporaryFolder();
  const hashes: string[] = [];
  for (const text of texts) hashes.push(await keepArtifact(home.path, text));
  const steps = hashes.map((artifactHash, stepIndex) => ({ stepIndex, kind: "agent", artifactHash }));
  return await readArtifactChanges(home.path, { steps } as unknown as RelayView);
}

test("what each step has changed is shown by itself", async () => {
  const changes = await changesOf(["one\n", "one\ntwo\n", "one\ntwo\n"]);
  expect(changes).toEqual([
    { step: 1, diff: "@@ -0,0 +1,1 @@\n+one" },
    { step: 2, diff: "@@ -1,1 +1,2 @@\n one\n+two" },
    { step: 3, diff: "" },
  ]);
});

test("an artifact that was written anew as a whole is shown so, whatever its length", async () => {
  const lines = (sign: string) => Array.from({ length: 200_000 }, (_, n) => `${sign}${n}`).join("\n");
  const [, change] = await changesOf([lines("a"), lines("b")]);
  expect(change!.diff!.slice(0, 40)).toBe("@@ -1,200000 +1,200000 @@\n-a0\n-a1\n-a2\n-a");
  expect(change!.diff!.split("\n")).toHaveLength(400_003);
});
