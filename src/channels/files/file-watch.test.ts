import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { eventId } from "../../model/event-id.ts";
import { CortexError } from "../../model/errors.ts";
import { type FileEvent, FileWatch, RETRY_MS, type WatchedFolder } from "./file-watch.ts";
import type { FileState, WatchedFile } from "./known-files.ts";

const SETTLE_MS = 1_000;
const MAX_BYTES = 1_000;

/** A folder, and a ledger that knows its files and takes each event once. Watches come and go beside it. */
function inbox(settings: Partial<WatchedFolder> = {}) {
  const temporary = temporaryFolder();
  const folder = join(temporary.path, "inbox");
  mkdirSync(folder);
  const known = new Map<string, WatchedFile>();
  const events = new Map<string, FileEvent>();
  const problems: string[] = [];
  const world = { nowMs: Date.UTC(2026, 10, 15, 9), failure: undefined as Error | undefined };
  const noteAll = (files: readonly FileState[]): void => {
    for (const file of files) {
      if ("gone" in file) known.delete(file.path);
      else known.set(file.path, file);
    }
  };
  const open = (changed: Partial<WatchedFolder> = {}): FileWatch =>
    new FileWatch(
      {
        name: "inbox",
        folder,
        include: ["**"],
        exclude: ["**/*.tmp"],
        settleMs: SETTLE_MS,
        maxBytes: MAX_BYTES,
        existing: "report",
        ...settings,
        ...changed,
      },
      {
        clock: () => world.nowMs,
        originOf: async () => ({}),
        known: async (under) => [...known.values()].filter(({ path }) => path.startsWith(under)),
        accept: async (event, file) => {
          if (world.failure !== undefined) throw world.failure;
          const id = eventId(event.adapter, event.sourceId);
          if (!events.has(id)) events.set(id, event);
          noteAll([file]);
        },
        note: async (files) => noteAll(files),
        onProblem: (problem) => problems.push(problem),
      },
    );
  /** Looks, waits until everything has settled, and looks again. */
  const settle = async (watch: FileWatch): Promise<void> => {
    await watch.look();
    world.nowMs += SETTLE_MS;
    await watch.look();
  };
  const told = (): string[] =>
    Array.from(events.values(), ({ metadata: { type, name } }) => `${type} ${name}`);
  return {
    folder,
    events,
    problems,
    world,
    open,
    settle,
    told,
    at: (name: string) => join(folder, name),
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

test("a file that was dropped is an event with its content, once it has settled", async () => {
  using box = inbox();
  await using watch = box.open();
  await box.settle(watch);
  writeFileSync(box.at("note.txt"), "Buy milk");

  await watch.look();
  box.world.nowMs += SETTLE_MS - 1;
  await watch.look();
  expect(box.told()).toEqual([]);
  box.world.nowMs += 1;
  await watch.look();

  const [event] = box.events.values();
  expect(event).toMatchObject({
    adapter: "files",
    channel: "files",
    sender: "inbox",
    content: "Buy milk",
    contentType: "text",
    metadata: { type: "created", watch: "inbox", name: "note.txt", path: box.at("note.txt"), size: 8 },
    timestampMs: box.world.nowMs,
  });
  const sha256 = createHash("sha256").update("Buy milk").digest("hex");
  expect(event!.metadata.sha256).toBe(sha256);
  expect(event!.sourceId).toEqual({
    kind: "file",
    path: box.at("note.txt"),
    modifiedMs: Date.parse(event!.metadata.modifiedAt),
    change: "created",
    sha256,
  });
});

test("a file that is still being written is waited for", async () => {
  using box = inbox();
  await using watch = box.open();
  for (let part = 1; part <= 5; part++) {
    writeFileSync(box.at("long.txt"), "part ".repeat(part));
    await watch.look();
    box.world.nowMs += SETTLE_MS - 1;
  }
  expect(box.told()).toEqual([]);
  await box.settle(watch);
  expect([...box.events.values()].map(({ content }) => content)).toEqual(["part ".repeat(5)]);
});

test("changes and deletions are told, each once", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "one");
  await box.settle(watch);
  writeFileSync(box.at("a.txt"), "two!");
  await box.settle(watch);
  await box.settle(watch);
  rmSync(box.at("a.txt"));
  await box.settle(watch);
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt", "changed a.txt", "deleted a.txt"]);
  expect([...box.events.values()].map(({ content }) => content)).toEqual(["one", "two!", null]);
});

test("a file that came and went meanwhile, or was only touched, is no event", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "same");
  await box.settle(watch);
  utimesSync(box.at("a.txt"), 1_000, 1_000);
  writeFileSync(box.at("b.txt"), "short");
  await watch.look();
  rmSync(box.at("b.txt"));
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt"]);
});

test("an editor that puts a new file in the place of the old one has changed it", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "old");
  await box.settle(watch);
  rmSync(box.at("a.txt"));
  await watch.look();
  writeFileSync(box.at("a.txt"), "newer");
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt", "changed a.txt"]);
});

test("what happened while nobody watched is told after the next start", async () => {
  using box = inbox();
  {
    await using before = box.open();
    for (const name of ["kept", "changed", "deleted"]) writeFileSync(box.at(name), name);
    await box.settle(before);
  }
  const old = box.events.size;
  writeFileSync(box.at("changed"), "something else");
  writeFileSync(box.at("created"), "new");
  rmSync(box.at("deleted"));
  await using after = box.open();
  await box.settle(after);
  expect(box.told().slice(old).toSorted()).toEqual(["changed changed", "created created", "deleted deleted"]);
});

test("an event that was not taken in is told of later, with the same id", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "a");
  box.world.failure = new CortexError("store_full", "The disk is full", { hint: "Wait.", transient: true });
  await box.settle(watch);
  expect(box.problems).toEqual([expect.stringContaining("The disk is full")]);
  box.world.failure = undefined;
  await watch.look();
  expect(box.told()).toEqual(["created a.txt"]);
});

test("one file that cannot be told of keeps no other from it, and is tried again", async () => {
  using box = inbox({ settleMs: 0 });
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "a");
  box.world.failure = new CortexError("event_invalid", "Not this one", { hint: "Wait." });
  await watch.look();
  box.world.failure = undefined;
  writeFileSync(box.at("b.txt"), "b");
  await watch.look();
  expect(box.told()).toEqual(["created b.txt"]);
  box.world.nowMs += RETRY_MS;
  await watch.look();
  expect(box.told()).toEqual(["created b.txt", "created a.txt"]);
});

test("files in folders are found, also in folders that come later", async () => {
  using box = inbox();
  await using watch = box.open();
  await box.settle(watch);
  mkdirSync(box.at("2026/11"), { recursive: true });
  writeFileSync(box.at("2026/11/a.md"), "deep");
  await box.settle(watch);
  rmSync(box.at("2026"), { recursive: true });
  await box.settle(watch);
  expect(box.told()).toEqual(["created 2026/11/a.md", "deleted 2026/11/a.md"]);
});

test("only what is asked for is told: globs decide, and a dot hides", async () => {
  using box = inbox({ include: ["*.md", "deep/**/*.csv"], exclude: ["draft-*"] });
  await using watch = box.open();
  mkdirSync(box.at("deep/er"), { recursive: true });
  mkdirSync(box.at(".git"));
  const names = ["a.md", "a.txt", "draft-a.md", ".hidden.md", "deep/b.md", "deep/er/c.csv", ".git/d.md"];
  for (const name of names) writeFileSync(box.at(name), name);
  await box.settle(watch);
  expect(box.told().toSorted()).toEqual(["created a.md", "created deep/er/c.csv"]);
});

test("a file that is no longer asked for was not deleted", async () => {
  using box = inbox();
  {
    await using all = box.open();
    for (const name of ["a.md", "a.txt"]) writeFileSync(box.at(name), name);
    await box.settle(all);
  }
  await using some = box.open({ include: ["*.md"] });
  await box.settle(some);
  expect(box.told().toSorted()).toEqual(["created a.md", "created a.txt"]);
});

test(`a text of ${MAX_BYTES} bytes comes along, what is longer or no text does not`, async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("at"), "x".repeat(MAX_BYTES));
  writeFileSync(box.at("over"), "x".repeat(MAX_BYTES + 1));
  writeFileSync(box.at("nul"), "a\0b");
  writeFileSync(box.at("latin"), Buffer.from([0x67, 0x72, 0xfc, 0xdf]));
  await box.settle(watch);
  const kinds = Array.from(box.events.values(), ({ metadata, content, contentType }) => [
    metadata.name,
    [content?.length, contentType],
  ]);
  expect(Object.fromEntries(kinds)).toEqual({
    at: [MAX_BYTES, "text"],
    latin: [undefined, "file"],
    nul: [undefined, "file"],
    over: [undefined, "file"],
  });
});

test("no link is followed, wherever it leads, and nothing but files is read", async () => {
  using box = inbox();
  const outside = mkdtempSync(join(box.folder, "..", "outside-"));
  writeFileSync(join(outside, "secret.txt"), "secret");
  await using watch = box.open();
  symlinkSync(join(outside, "secret.txt"), box.at("link.txt"));
  symlinkSync(outside, box.at("folder"));
  symlinkSync("..", box.at("circle"));
  execFileSync("mkfifo", [box.at("pipe")]);
  await box.settle(watch);
  expect(box.told()).toEqual([]);
});

test("a file that becomes a link has been deleted, and what it points to is not read", async () => {
  using box = inbox();
  const secret = join(box.folder, "..", "secret.txt");
  writeFileSync(secret, "secret");
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "mine");
  await box.settle(watch);
  rmSync(box.at("a.txt"));
  symlinkSync(secret, box.at("a.txt"));
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt", "deleted a.txt"]);
});

test("the watched folder itself may be a link", async () => {
  using box = inbox();
  const link = join(box.folder, "..", "link");
  symlinkSync(box.folder, link);
  await using watch = box.open({ folder: link });
  writeFileSync(box.at("a.txt"), "a");
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt"]);
});

test("a folder that is gone, as with a disk that was unplugged, is a problem and deletes nothing", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "a");
  await box.settle(watch);
  renameSync(box.folder, `${box.folder}-away`);
  await box.settle(watch);
  await box.settle(watch);
  expect(box.problems).toEqual([expect.stringContaining(`Cannot watch ${box.folder} for now`)]);
  renameSync(`${box.folder}-away`, box.folder);
  await box.settle(watch);
  expect(box.told()).toEqual(["created a.txt"]);
});

test("files that were there before can be left alone, and what comes later is told", async () => {
  using box = inbox({ existing: "ignore" });
  writeFileSync(box.at("old.txt"), "old");
  {
    await using first = box.open();
    await box.settle(first);
  }
  expect(box.told()).toEqual([]);
  writeFileSync(box.at("old.txt"), "changed");
  writeFileSync(box.at("new.txt"), "new");
  await using second = box.open();
  await box.settle(second);
  expect(box.told().toSorted()).toEqual(["changed old.txt", "created new.txt"]);
});

test("a folder that was empty when it was first watched has no files from before", async () => {
  using box = inbox({ existing: "ignore" });
  {
    await using first = box.open();
    await box.settle(first);
  }
  writeFileSync(box.at("a.txt"), "a");
  await using second = box.open();
  await box.settle(second);
  expect(box.told()).toEqual(["created a.txt"]);
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is a problem that is told", async () => {
  using box = inbox();
  await using watch = box.open();
  writeFileSync(box.at("a.txt"), "a");
  chmodSync(box.at("a.txt"), 0);
  await box.settle(watch);
  expect(box.problems).toEqual([expect.stringContaining("a.txt was not reported")]);
});

test("a watch that was started sees a file by itself", async () => {
  using box = inbox({ settleMs: 0 });
  await using watch = box.open();
  watch.start();
  await watch.look();
  writeFileSync(box.at("a.txt"), "a");
  await expect.poll(() => box.told()).toEqual(["created a.txt"]);
  mkdirSync(box.at("deep"));
  writeFileSync(box.at("deep/b.txt"), "b");
  await expect.poll(() => box.told()).toContain("created deep/b.txt");
  expect(readFileSync(box.at("a.txt"), "utf8")).toBe("a");
});
