/** What agents may do to the artifact that they share: none of it fails the relay, or leads out of its workspace. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { always, openStage, relayConfig } from "../../../test/support/played-relays.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { expect, test } from "vitest";

import { MAX_ARTIFACT_BYTES, readKept } from "../artifact/artifact.ts";
import type { RelayRecord } from "../record/record.ts";

const path = ({ steps }: RelayRecord) => steps.map(({ agentSlotId }) => agentSlotId);
const fileIn = (prompt: string) => /in (\S+\.md)/.exec(prompt)![1]!;

/** `good` is in what an agent answers, and `fine` in the artifact before it was spoilt. */
const CONFIG = relayConfig([
  { from: "a", to: "b", condition: { type: "output_contains", pattern: "good" } },
  { from: "a", to: "c", condition: { type: "output_contains", pattern: "fine" } },
]);

const SPOILS: readonly (readonly [string, (file: string, elsewhere: string) => void, string])[] = [
  ["deleted", (file) => rmSync(file), "b"],
  ["a folder", (file) => (rmSync(file), mkdirSync(file)), "b"],
  [
    "a link out of the workspace",
    (file, elsewhere) => {
      writeFileSync(join(elsewhere, "secret"), "fine");
      rmSync(file);
      symlinkSync(join(elsewhere, "secret"), file);
    },
    "b",
  ],
  ["read-only", (file) => (writeFileSync(file, "fine"), chmodSync(file, 0o400)), "c"],
  ["100 MB large", (file) => (writeFileSync(file, "fine"), truncateSync(file, 100 * 1024 * 1024)), "b"],
];

test.each(SPOILS)("an artifact that an agent has made %s fails nothing", async (_, spoil, next) => {
  using elsewhere = temporaryFolder();
  await using stage = await openStage(CONFIG, ({ name, prompt }) => {
    if (name === "a") spoil(fileIn(prompt), elsewhere.path);
    return { says: "it is good" };
  });
  const record = await stage.ended(await stage.run());
  expect(record).toMatchObject({ status: "completed", error: null });
  expect(path(record)).toEqual(["a", next]);
  expect(stage.problems).toEqual([]);
  expect(JSON.stringify(record)).not.toContain("secret");
});

test("a workspace that an agent has replaced by a link fails the relay, and nothing is written where it leads", async () => {
  using elsewhere = temporaryFolder();
  await using stage = await openStage(CONFIG, ({ prompt }) => {
    const folder = dirname(fileIn(prompt));
    renameSync(folder, `${folder}-moved`);
    symlinkSync(elsewhere.path, folder);
    return { says: "it is good" };
  });
  const record = await stage.ended(await stage.run());
  expect(record).toMatchObject({
    status: "failed",
    error: expect.stringContaining("it is a link"),
  });
  expect(path(record)).toEqual(["a"]);
  expect(readdirSync(elsewhere.path)).toEqual([]);
});

test("an artifact that is too large to be read is not lost when sections are merged", async () => {
  const config = relayConfig([always("a", ["b", "c"]), always(["b", "c"], "d")]);
  await using stage = await openStage(config, ({ name, prompt }) => {
    if (name === "a") truncateSync(fileIn(prompt), MAX_ARTIFACT_BYTES + 1);
    return name === "b" || name === "c" ? { says: `${name} says`, writes: "x" } : {};
  });
  const record = await stage.ended(await stage.run());
  expect(record.status).toBe("completed");
  expect(readFileSync(record.artifactPath).length).toBe(MAX_ARTIFACT_BYTES + 1);
  expect(stage.asked.at(-1)!.prompt).toContain("[b]\n\nb says\n\n[c]\n\nc says");
});

test("an artifact that was deleted is there again for the next step, with what that writes", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), ({ name, prompt }) => {
    if (name !== "a") return { writes: "b\n" };
    rmSync(dirname(fileIn(prompt)), { recursive: true });
    return {};
  });
  const record = await stage.ended(await stage.run());
  expect(record.steps.map(({ artifactHash }) => artifactHash === null)).toEqual([true, false]);
  expect(await readKept(stage.home, record.steps[1]!.artifactHash!)).toBe("b\n");
});
