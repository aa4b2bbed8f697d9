import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import {
  always,
  type Cast,
  openStage,
  relayConfig,
  type Stage,
} from "../../../test/support/played-relays.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import { archiveOld, KEPT_MS } from "./retention.ts";

/** The first agent changes files, the second is told of it. */
function config(transitions = [always("a", "d")]): object {
  const known = relayConfig(transitions) as { agents: Record<string, object> };
  known.agents["d"] = {
    ...known.agents["d"],
    promptTemplate: "{{modifiedFiles}}\n{{modifiedFilesWithDiff}}",
  };
  return known;
}

const artifactIn = (prompt: string): string => /in (\S+\.md)/.exec(prompt)![1]!;

/** Writes a file beside the artifact, as a program would. */
const edits: Cast = ({ name, prompt }) => {
  if (name === "a") appendFileSync(join(artifactIn(prompt), "..", "notes.txt"), "one\n");
  return {};
};

const filesOf = ({ home }: Stage): string => join(home, "data", "relay-files");

function told({ asked }: Stage): string {
  return asked.find(({ name }) => name === "d")!.prompt;
}

test("what a step did to files without our tools is told to the next", async () => {
  await using stage = await openStage(config(), edits);
  const { workspacePath } = await stage.ended(await stage.run());
  expect(told(stage)).toContain(`- ${workspacePath}/notes.txt\n### ${workspacePath}/notes.txt\n`);
  expect(told(stage)).toContain("+one");
  expect(told(stage)).not.toContain("artifact.md\n###");
  expect(stage.problems).toEqual([]);
});

test("also in the folder that the relay works in, and what is gone", async () => {
  using folder = temporaryFolder(memoryParent());
  writeFileSync(join(folder.path, "old.txt"), "old\n");
  await using stage = await openStage(config(), ({ name }) => {
    if (name === "a") rmSync(join(folder.path, "old.txt"));
    return {};
  });
  await stage.ended(await stage.run({ dir: folder.path }));
  expect(told(stage)).toContain(`### ${folder.path}/old.txt`);
  expect(told(stage)).toContain("-old");
});

test("in a home, what Cortex writes itself is not what the step has changed", async () => {
  await using stage = await openStage(config(), edits);
  writeFileSync(join(stage.home, "own.txt"), "");
  mkdirSync(join(stage.home, "logs"), { recursive: true });
  const id = await stage.run({ dir: stage.home });
  writeFileSync(join(stage.home, "logs", "log.txt"), "");
  const { workspacePath } = await stage.ended(id);
  expect(told(stage)).toContain(`- ${workspacePath}/notes.txt\n### `);
});

test("a file that a tool has written, and that was seen to be different, is told of once", async () => {
  await using stage = await openStage(config(), (asked) => ({
    ...edits(asked),
    calls: asked.name === "a" ? [{ tool: "Write", params: { path: "notes.txt", content: "zero\n" } }] : [],
  }));
  await stage.ended(await stage.run());
  expect(told(stage).match(/^### /gm)).toHaveLength(1);
  expect(told(stage)).toContain("+one"); // what is there now, and not what the tool wrote
});

test("steps that run side by side are told of as one", async () => {
  const fan = [always("a", ["b", "c"]), always(["b", "c"], "d")];
  await using stage = await openStage(config(fan), ({ name, prompt }) => {
    if (name === "b" || name === "c")
      appendFileSync(join(artifactIn(prompt), "..", "notes.txt"), `${name}\n`);
    return {};
  });
  await stage.ended(await stage.run());
  expect(told(stage).match(/^### .*notes.txt/gm)).toHaveLength(1);
  expect(told(stage)).toMatch(/\+[bc]\n\+[bc]\n/);
});

test("what was there before a step outlives the process in the midst of it", async () => {
  let isHeld = true;
  await using stage = await openStage(config(), (asked) => {
    const played = isHeld ? edits(asked) : {};
    return asked.name === "a" && isHeld ? { ...played, holds: true } : played;
  });
  const id = await stage.run();
  await stage.reached(1);
  isHeld = false;
  await stage.reopen("resume");
  const { workspacePath } = await stage.ended(id);
  expect(told(stage)).toContain(`- ${workspacePath}/notes.txt\n`);
  expect(told(stage)).toContain("+one");
});

test.each([
  { save: 1, when: "before" as const },
  { save: 1, when: "after" as const },
  { save: 2, when: "before" as const },
  { save: 2, when: "after" as const },
])("the process ends $when save $save, and the changes are told the same", async ({ save, when }) => {
  await using stage = await openStage(config(), edits);
  stage.crashAt(save, when);
  const id = await stage.run();
  await stage.crashed;
  await stage.reopen("resume");
  const { workspacePath } = await stage.ended(id);
  expect(told(stage)).toContain(`- ${workspacePath}/notes.txt\n`);
  expect(told(stage).match(/^\+one$/gm)).toHaveLength(1);
  expect(readdirSync(join(filesOf(stage), id)).toSorted()).toEqual(["0-changes.json", "1-changes.json"]);
});

test("where no prompt tells of changes, nothing is looked at", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), edits);
  await stage.ended(await stage.run());
  expect(existsSync(filesOf(stage))).toBe(false);
});

test("what is kept goes with the relay", async () => {
  await using stage = await openStage(config(), edits);
  await stage.ended(await stage.run());
  expect(readdirSync(filesOf(stage))).toHaveLength(1);
  await archiveOld(stage.store, stage.home, stage.clock() + KEPT_MS + 1);
  expect(readdirSync(filesOf(stage))).toEqual([]);
});
