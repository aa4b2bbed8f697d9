import {
  chmodSync,
  existsSync,
  mkdirSync,
  statSync,
  writeFileSync,
  readdirSync,
  readFileSync,
  renameSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { configHome } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { applyChange, type Change, describeChange } from "./changes.ts";
import { examine } from "../doctor/doctor.ts";

const GONE = '{"pid":2147483646,"startedAt":"2026-03-01T00:00:00.000Z"}\n';

test("what can be put right without losing anything is, and then there is nothing left to change", async () => {
  using home = configHome({
    "cortex.json": { channels: { files: { inbox: { folder: "inbox" } } } },
    ".env": "A=b",
  });
  mkdirSync(join(home.path, "data"));
  writeFileSync(join(home.path, "data", "server.json"), GONE);
  chmodSync(join(home.folder, ".env"), 0o644);
  chmodSync(join(home.path, "data"), 0o755);
  chmodSync(home.path, 0o777);

  const changes = await wanted(home.path);
  expect(changes.flatMap(describeChange).toSorted()).toEqual(
    [
      `- 0777 ${home.path}`,
      `+ 0700 ${home.path}`,
      `- 0644 ${home.folder}/.env`,
      `+ 0600 ${home.folder}/.env`,
      `- 0755 ${home.path}/data`,
      `+ 0700 ${home.path}/data`,
      `+ ${home.path}/inbox/`,
      `--- ${home.path}/data/server.json`,
      `- ${GONE.trim()}`,
    ].toSorted(),
  );
  for (const change of changes) expect(await applyChange(change)).toBe(true);
  expect(await wanted(home.path)).toEqual([]);
  expect(statSync(join(home.path, "data")).mode & 0o777).toBe(0o700);
  expect(existsSync(join(home.path, "data", "server.json"))).toBe(false);
});

test("what has become different since is left alone", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "note");
  writeFileSync(path, "new");
  chmodSync(path, 0o600);
  expect(await applyChange({ kind: "remove", path, content: "old" })).toBe(false);
  expect(await applyChange({ kind: "mode", path, from: 0o644, to: 0o600 })).toBe(false);
  expect(await applyChange({ kind: "remove", path: `${path}-gone`, content: "" })).toBe(false);
  expect(existsSync(path)).toBe(true);
});

test("a note that others write meanwhile is there afterwards, whatever was removed", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "note");
  for (let i = 0; i < 50; i++) {
    writeFileSync(path, "old");
    const removing = applyChange({ kind: "remove", path, content: "old" });
    await new Promise((resolve) => void setImmediate(resolve));
    writeFileSync(`${path}.draft`, "new");
    renameSync(`${path}.draft`, path); // as a server does that starts
    await removing;
    expect(readFileSync(path, "utf8")).toBe("new");
  }
  expect(readdirSync(folder.path)).toEqual(["note"]);
});

test("what cannot be changed says so", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "file");
  writeFileSync(path, "");
  await expect(applyChange({ kind: "folder", path: join(path, "inner") })).rejects.toMatchObject({
    code: "home_unwritable",
    message: expect.stringContaining(path),
  });
});

async function wanted(home: string): Promise<Change[]> {
  const environment = { PATH: "/nonexistent", CORTEX_PORT: "0" };
  const { checks } = await examine({
    home,
    environment,
    nowMs: Date.now(),
    version: "1.0.0",
    server: undefined,
  });
  return checks.flatMap(({ change }) => change ?? []);
}
