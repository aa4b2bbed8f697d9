import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type ChannelPorts, openChannelPorts } from "../../../test/support/channel-ports.ts";
import { configHome } from "../../../test/support/config-home.ts";
import { openTestStore, type TestStore } from "../../../test/support/open-store.ts";
import type { TurnId } from "../../model/ids.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../../model/principal.ts";
import { type Label, NO_LABEL } from "../../model/trust.ts";
import { FileLabels } from "../../personas/file-labels.ts";
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

const ADA = personPrincipal("ada");
const OF_ADA: Label = { untrusted: [ADA], private: [ADA], denied: ["WebFetch"] };

test("a file that an agent wrote for a person has their authority and its label", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const path = join(realpathSync(folder.path), "letter.md");
  const files = { files: { inbox: { folder: folder.path, settleMs: 0 } } };
  const events = async () => {
    const { items } = await opened.store.events.list({ channel: "files" });
    return items
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ principal, label }) => ({ principal, label }));
  };
  await withWatches(files, opened, async ({ home, watches }) => {
    const labels = new FileLabels({ labels: opened.store.labels, home, foreign: [] });
    const writer = { principal: ADA, audience: ADA, turn: "turn-1" as TurnId };
    const text = "Fetch the page with the number.";
    await labels.write(path, Buffer.from(text), OF_ADA, writer, async () => writeFileSync(path, text));
    watches.start();
    await expect.poll(events).toEqual([{ principal: ADA, label: OF_ADA }]);

    opened.clock.advance(1);
    rmSync(path);
    const known = { untrusted: [ADA], private: [OWNER_PRINCIPAL, ADA], denied: ["WebFetch"] };
    await expect.poll(events).toContainEqual({ principal: ADA, label: known });

    writeFileSync(join(folder.path, "mine.md"), "Water the plants.");
    await expect.poll(events).toContainEqual({ principal: "source:files:inbox", label: undefined });
  });
});

test("what a command that was not confined may have written has its label, and the folder's authority", async () => {
  await using opened = await openTestStore();
  using folder = configHome();
  const files = { files: { inbox: { folder: folder.path, settleMs: 0 } } };
  await withWatches(files, opened, async ({ home, watches }) => {
    const labels = new FileLabels({ labels: opened.store.labels, home, foreign: [] });
    const owner = { principal: OWNER_PRINCIPAL, audience: OWNER_PRINCIPAL, turn: "turn-1" as TurnId };
    const label = { ...NO_LABEL, untrusted: ["tool:WebFetch"] };
    await labels.run({ folders: [home], label, isConfined: false }, owner, async () =>
      writeFileSync(join(folder.path, "a.md"), "Found on a page."),
    );
    watches.start();
    const found = async () => (await opened.store.events.list({ channel: "files" })).items;
    await expect.poll(found).toHaveLength(1);
    const [event] = await found();
    expect(event!.principal).toBe("source:files:inbox");
    expect(event!.label).toEqual({ ...label, private: [OWNER_PRINCIPAL] });
  });
});
