import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type ChannelPorts, openChannelPorts } from "../../../test/support/channel-ports.ts";
import { configHome } from "../../../test/support/config-home.ts";
import { openTestStore, type TestStore } from "../../../test/support/open-store.ts";
import { WatchedFolders } from "./watched-folders.ts";

async function withWatches(
  channels: unknown,
  opened: TestStore,
  work: (scene: ChannelPorts & { readonly watches: WatchedFolders }) => Promise<void>,
): Promise<void> {
  using ports = await openChannelPorts(opened, channels);
  await using watches = new WatchedFolders(ports);
  await work({ ...ports, watches });
}

test("a file in a watched folder is an event, and what a crash has kept from being told is told later", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const files = { files: { inbox: { folder: folder.path, settleMs: 0 } } };
  const told = async () => {
    const { items } = await opened.store.events.list({ channel: "files" });
    return items.map(({ metadata }) => {
      const { type, name } = metadata as { type: string; name: string };
      return `${type} ${name}`;
    });
  };
  const path = join(folder.path, "a.txt");
  writeFileSync(path, "one");
  await withWatches(files, opened, async ({ watches }) => {
    watches.start();
    await expect.poll(told).toEqual(["created a.txt"]);
  });
  await opened.crash();
  writeFileSync(path, "two!");
  await withWatches(files, opened, async ({ watches }) => {
    watches.start();
    await expect.poll(told).toHaveLength(2);
  });
  rmSync(path);
  await withWatches(files, opened, async ({ watches }) => {
    watches.start();
    await expect.poll(told).toHaveLength(3);
  });
  expect((await told()).toSorted()).toEqual(["changed a.txt", "created a.txt", "deleted a.txt"]);
});

test("folders are watched as the configuration says now", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const [one, two] = ["one", "two"].map((name) => join(folder.path, name)) as [string, string];
  for (const path of [one, two]) mkdirSync(path);
  const senders = async () =>
    (await opened.store.events.list({ channel: "files" })).items.map(({ sender }) => sender ?? "").toSorted();
  await withWatches({ files: { one: { folder: one, settleMs: 0 } } }, opened, async (scene) => {
    scene.watches.start();
    writeFileSync(join(one, "a"), "a");
    await expect.poll(senders).toEqual(["one"]);
    await scene.configure({ files: { two: { folder: two, settleMs: 0 } } });
    scene.watches.configChanged();
    writeFileSync(join(one, "b"), "b");
    writeFileSync(join(two, "c"), "c");
    await expect.poll(senders).toEqual(["one", "two"]);
  });
});

test("of two folders of which one is in the other, the first is watched, and the owner is told", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const files = { all: { folder: folder.path }, part: { folder: folder.folder } };
  await withWatches({ files }, opened, async ({ watches, lines }) => {
    watches.start();
    await expect
      .poll(() => lines)
      .toEqual([`Folder "part" is not watched: it overlaps with "all" (${folder.path}).`]);
  });
});

test("a folder with the ledger in it is not watched, and the owner is told", async () => {
  await using opened = await openTestStore();
  const files = { home: { folder: "." }, ledger: { folder: "data/inner" }, inbox: { folder: "inbox" } };
  await withWatches({ files }, opened, async ({ home, watches, lines }) => {
    mkdirSync(join(home, "inbox"));
    watches.start();
    await expect
      .poll(() => lines)
      .toEqual([
        `Folder "home" is not watched: it contains the ledger (${home}).`,
        `Folder "ledger" is not watched: it contains the ledger (${join(home, "data/inner")}).`,
      ]);
  });
});
