import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type ConfigHome, configHome } from "../../test/support/config-home.ts";
import type { PersonaId } from "../model/ids.ts";
import { addEntry, type NewEntry } from "./add-entry.ts";
import { MAX_FILE_BYTES } from "./json-file.ts";
import { readConfig } from "./read.ts";

const NOVA: NewEntry = { section: "personas", name: "nova", value: { identity: { name: "Nova" } } };

const sourcesOf = ({ path }: ConfigHome) => ({ home: path, environment: {}, systemTimezone: () => "UTC" });
const textOf = ({ folder }: ConfigHome): string => readFileSync(join(folder, "cortex.json"), "utf8");

/** What came of it, and whether everything is as it was. */
async function refusalOf(
  home: ConfigHome,
  entry: NewEntry,
): Promise<{ error: unknown; isUntouched: boolean }> {
  const before = textOf(home);
  const error: unknown = await addEntry(sourcesOf(home), entry).catch((error: unknown) => error);
  const isUntouched = textOf(home) === before && readdirSync(home.folder).join() === "cortex.json";
  return { error, isUntouched };
}

test("an entry is in the configuration, and all that was in the file is still there", async () => {
  const text = `// Mine.\n{\n  "server": { "port": 1 }, // the port\n}\n`;
  using home = configHome({ "cortex.json": text });
  const { config } = await addEntry(sourcesOf(home), NOVA);
  expect(config.personas["nova" as PersonaId]!.identity.name).toBe("Nova");
  expect((await readConfig(sourcesOf(home))).config).toEqual(config);
  expect(textOf(home).startsWith(text.slice(0, -2))).toBe(true);
  expect(readdirSync(home.folder)).toEqual(["cortex.json"]);
});

test("where there is no file and no folder, they are made", async () => {
  using home = configHome();
  rmSync(home.folder, { recursive: true });
  await addEntry(sourcesOf(home), NOVA);
  expect(JSON.parse(textOf(home))).toEqual({
    $schema: "./cortex.schema.json",
    personas: { nova: { identity: { name: "Nova" } } },
  });
});

test.each([
  ["atlas", '"atlas" is already a persona'],
  ["sage", '"sage" is already a persona'],
])("the name %s, which is taken, is refused", async (name, message) => {
  using home = configHome({ "cortex.json": { personas: { sage: {} } } });
  expect(await refusalOf(home, { ...NOVA, name })).toMatchObject({
    error: { code: "state_conflict", message },
    isUntouched: true,
  });
});

test.each([
  ["No Va", "invalid persona id"],
  ["Nova", "contains uppercase letters"],
  ["__proto__", "reserved name"],
])("the name %s, which is none, is refused", async (name, message) => {
  using home = configHome({ "cortex.json": {} });
  expect(await refusalOf(home, { ...NOVA, name })).toMatchObject({
    error: { code: "config_invalid", message: expect.stringContaining(message) },
    isUntouched: true,
  });
});

test("what would not be valid is not written", async () => {
  using home = configHome({ "cortex.json": {} });
  const entry: NewEntry = { section: "agents", name: "scout", value: { persona: "nobody" } };
  expect(await refusalOf(home, entry)).toMatchObject({
    error: {
      code: "config_invalid",
      message: expect.stringMatching(
        /^agents.scout was not added[^]*agents.scout.persona: unknown persona "nobody"/,
      ),
    },
    isUntouched: true,
  });
});

test("a file with mistakes is left to whoever made them", async () => {
  using home = configHome({ "cortex.json": "{ nonsense" });
  expect(await refusalOf(home, NOVA)).toMatchObject({
    error: { code: "config_invalid" },
    isUntouched: true,
  });
});

test("a file does not grow beyond what is read", async () => {
  using home = configHome({ "cortex.json": {} });
  const soul = "a".repeat(MAX_FILE_BYTES);
  expect(await refusalOf(home, { ...NOVA, value: { identity: { soul } } })).toMatchObject({
    error: { code: "config_invalid" },
    isUntouched: true,
  });
});

test("of many writers at once, none undoes what another has written", async () => {
  using home = configHome();
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
  // A writer waits 200 times: long enough for eleven others on a disk that is busy.
  await Promise.all(names.map((name) => addEntry(sourcesOf(home), { ...NOVA, name }, { pauseMs: 100 })));
  const { config } = await readConfig(sourcesOf(home));
  expect(Object.keys(config.personas).toSorted()).toEqual(["atlas", ...names].toSorted());
  expect(readdirSync(home.folder)).toEqual(["cortex.json"]);
});

test("of two writers of the same name, one is refused", async () => {
  using home = configHome();
  const both = await Promise.allSettled([1, 2].map(() => addEntry(sourcesOf(home), NOVA, { pauseMs: 1 })));
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a writer that was killed is named, with what to remove", async () => {
  using home = configHome({ "cortex.json": {} });
  home.write("cortex.json.new", "{");
  await expect(addEntry(sourcesOf(home), NOVA, { pauseMs: 0 })).rejects.toMatchObject({
    code: "state_conflict",
    hint: expect.stringContaining("cortex.json.new"),
  });
});

test("a link to the file stays a link, and the file keeps its permissions and its mark", async () => {
  using home = configHome();
  const elsewhere = join(home.path, "dotfiles");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "cortex.json"), "\uFEFF{}");
  chmodSync(join(elsewhere, "cortex.json"), 0o600);
  symlinkSync(join(elsewhere, "cortex.json"), join(home.folder, "cortex.json"));

  await addEntry(sourcesOf(home), NOVA);
  expect(lstatSync(join(home.folder, "cortex.json")).isSymbolicLink()).toBe(true);
  expect(statSync(join(elsewhere, "cortex.json")).mode & 0o777).toBe(0o600);
  expect(textOf(home)).toMatch(/^\uFEFF\{[^]*nova/);
});

test("a folder that cannot be made is an error with a hint", async () => {
  using home = configHome();
  rmSync(home.folder, { recursive: true });
  writeFileSync(home.folder, "");
  await expect(addEntry(sourcesOf(home), NOVA)).rejects.toMatchObject({ code: "home_unwritable" });
});
