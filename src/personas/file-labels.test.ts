import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { openTestStore, type TestStore } from "../../test/support/open-store.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { TurnId } from "../model/ids.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../model/principal.ts";
import { type Label, NO_LABEL, OWNERS } from "../model/trust.ts";
import { FileLabels, FOREIGN, type TurnWriter } from "./file-labels.ts";

const ADA = personPrincipal("ada");
const OWNER: TurnWriter = { principal: OWNER_PRINCIPAL, audience: OWNER_PRINCIPAL, turn: "turn-1" as TurnId };
const FOR_ADA: TurnWriter = { principal: ADA, audience: ADA, turn: "turn-2" as TurnId };
const OF_ADA: Label = { ...NO_LABEL, untrusted: [ADA], private: [ADA] };
const TEXT = "A text that is long enough to be recognised elsewhere.";

interface Scene extends Disposable {
  readonly folder: string;
  readonly files: FileLabels;
  path(name: string): string;
  write(name: string, content: string, label: Label, writer: TurnWriter): Promise<void>;
}

function scene({ store }: TestStore, foreign: readonly string[] = []): Scene {
  const temporary = temporaryFolder();
  const folder = realpathSync(temporary.path);
  const files = new FileLabels({ labels: store.labels, foreign: foreign.map((name) => join(folder, name)) });
  const path = (name: string): string => join(folder, name);
  return {
    folder,
    files,
    path,
    write: (name, content, label, writer) =>
      files.write(path(name), Buffer.from(content), label, writer, async () =>
        writeFileSync(path(name), content),
      ),
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

test("a file that nobody recorded is the owner's", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  writeFileSync(at.path("a"), TEXT);
  expect(await at.files.ofFile(at.path("a"))).toEqual(OWNERS);
  expect(await at.files.ofFile(at.path("absent"))).toEqual(OWNERS);
});

test("what the owner's agent writes in a session that knows nobody else's words is not recorded", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", TEXT, NO_LABEL, OWNER);
  expect(await opened.store.labels.areEmpty()).toBe(true);
  expect(await at.files.ofFile(at.path("a"))).toEqual(OWNERS);
});

test("a file has the label of the session that wrote it, and is private to whom it was written for", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", TEXT, { ...NO_LABEL, untrusted: [ADA], denied: ["Bash"] }, FOR_ADA);
  expect(await at.files.ofFile(at.path("a"))).toEqual({ ...OF_ADA, denied: ["Bash"] });
  expect(await at.files.ofFolders([at.folder])).toEqual({
    untrusted: [ADA],
    private: [OWNER_PRINCIPAL, ADA],
    denied: ["Bash"],
  });
});

test("what the owner writes over it is the owner's, and what an unmarked session writes, too", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  for (const name of ["a", "b"]) await at.write(name, TEXT, OF_ADA, FOR_ADA);
  writeFileSync(at.path("a"), `${TEXT} And more.`);
  expect(await at.files.ofFile(at.path("a"))).toEqual(OWNERS);
  await at.write("b", "anew", NO_LABEL, OWNER);
  expect(await at.files.ofFile(at.path("b"))).toEqual(OWNERS);
});

test("a file that was moved or copied unchanged keeps its label", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", TEXT, OF_ADA, FOR_ADA);
  writeFileSync(at.path("copy"), readFileSync(at.path("a")));
  renameSync(at.path("a"), at.path("moved"));
  expect(await at.files.ofFile(at.path("copy"))).toEqual(OF_ADA);
  expect(await at.files.ofFile(at.path("moved"))).toEqual(OF_ADA);
});

test("a short content is in many files by chance, and says nothing about others", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", "", OF_ADA, FOR_ADA);
  writeFileSync(at.path("b"), "");
  expect(await at.files.ofFile(at.path("b"))).toEqual(OWNERS);
});

test("if the process dies between the record and the write, neither content is without its label", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", TEXT, OF_ADA, FOR_ADA);
  const bob = { ...NO_LABEL, untrusted: [personPrincipal("bob")], private: [ADA] };
  const killed = at.files.write(at.path("a"), Buffer.from("new".repeat(20)), bob, FOR_ADA, async () => {
    throw new Error("killed");
  });
  await expect(killed).rejects.toThrow("killed");
  expect(await at.files.ofFile(at.path("a"))).toEqual(OF_ADA);
  writeFileSync(at.path("a"), "new".repeat(20)); // as if it had died right after the write
  expect(await at.files.ofFile(at.path("a"))).toEqual(bob);
});

test("what a confined command changes has its label; what was there before does not", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  const inner = join(at.folder, "inner");
  mkdirSync(inner);
  writeFileSync(join(inner, "old"), TEXT);
  const command = { folders: [inner], label: OF_ADA, isConfined: true };
  // The time of a change must be told apart from the beginning of the command.
  const later = new FileLabels({
    labels: opened.store.labels,
    foreign: [],
    fileClock: () => Date.now() + 200,
  });
  await later.run(command, FOR_ADA, async () => {});
  expect(await at.files.ofFile(join(inner, "old"))).toEqual(OWNERS);
  await at.files.run(command, FOR_ADA, async () => {
    appendFileSync(join(inner, "new"), `${TEXT}!`);
  });
  expect(await at.files.ofFile(join(inner, "new"))).toEqual(OF_ADA);
  expect(await opened.store.labels.commands({ fromMs: 0, untilMs: Date.now() + 1_000 })).toEqual([]);
});

test("a command that is not confined can have changed every file that changed while it ran", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  const command = { folders: [at.folder], label: OF_ADA, isConfined: false };
  await at.files.run(command, FOR_ADA, async () => writeFileSync(at.path("a"), TEXT));
  expect(await at.files.ofFile(at.path("a"))).toEqual({ ...OF_ADA, private: [OWNER_PRINCIPAL, ADA] });
});

test("a command that a crash has cut off counts until the next start", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  const command = { folders: [at.folder], label: OF_ADA, isConfined: true };
  let isRunning: (() => void) | undefined;
  const running = new Promise<void>((resolve) => (isRunning = resolve));
  const never = new Promise<void>(() => {});
  void at.files.run(command, FOR_ADA, async () => {
    writeFileSync(at.path("a"), TEXT);
    isRunning!();
    await never;
  });
  await running;
  opened.clock.advance(Date.now() + 1_000 - opened.clock()); // to the time of the files
  const store = await opened.crash();
  const files = new FileLabels({ labels: store.labels, foreign: [] });
  expect((await files.ofFile(at.path("a"))).untrusted).toEqual([ADA]);
  const [left] = await store.labels.commands({ fromMs: 0, untilMs: Date.now() + 1_000 });
  expect(left).toMatchObject({ principal: ADA, endedAtMs: expect.any(Number) });
});

test("documents of others are nobody's words that are trusted", async () => {
  await using opened = await openTestStore();
  using at = scene(opened, ["inbox"]);
  mkdirSync(at.path("inbox"));
  expect(await at.files.ofFolders([at.folder])).toEqual(OWNERS);
  writeFileSync(at.path("inbox/letter.md"), TEXT);
  const foreign = { ...OWNERS, untrusted: FOREIGN.untrusted };
  expect(await at.files.ofFile(at.path("inbox/letter.md"))).toEqual(foreign);
  expect(await at.files.ofFolders([at.folder])).toEqual(foreign);
});

test("a file that goes away while its label is looked up keeps the label of its record", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  await at.write("a", TEXT, OF_ADA, FOR_ADA);
  const { labels } = opened.store;
  const files = new FileLabels({
    foreign: [],
    labels: {
      areEmpty: () => labels.areEmpty(),
      ofFile(file) {
        rmSync(at.path("a"), { force: true });
        return labels.ofFile(file);
      },
    } as typeof labels,
  });
  expect(await files.ofFile(at.path("a"))).toEqual(OF_ADA);
});

test("what was read of a file that is gone is nobody's words that are trusted, unless the owner is alone", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  expect(await at.files.ofReadFile(at.path("gone"))).toEqual(OWNERS);
  await at.write("a", TEXT, OF_ADA, FOR_ADA);
  expect(await at.files.ofReadFile(at.path("a"))).toEqual(OF_ADA);
  expect((await at.files.ofReadFile(at.path("gone"))).untrusted).toEqual(FOREIGN.untrusted);
});

test("a file never has less than what was written to it last", async () => {
  await using opened = await openTestStore();
  using at = scene(opened);
  const names = fc.subarray(["person:ada", "person:bob", "tool:WebFetch"]);
  const label = fc.record({ untrusted: names, private: fc.constant([]), denied: fc.constant([]) });
  const writes = fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.string({ maxLength: 80 }), label), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(writes, async (steps) => {
      const last = new Map<string, Label>();
      for (const [name, content, of] of steps) {
        await at.write(name, content, of, OWNER);
        last.set(name, of);
      }
      for (const [name, of] of last) {
        const now = await at.files.ofFile(at.path(name));
        expect(now.untrusted).toEqual(expect.arrayContaining([...of.untrusted]));
      }
    }),
    { numRuns: 30 },
  );
});
