/** Plugins of channels: the examples keep all promises of a channel, and only reviewed content is loaded. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { BOARDS, conformBoard, EXAMPLES } from "./support/boards.ts";
import { environmentOf } from "./support/cli.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { runHere } from "./support/run-here.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

test.each(Object.entries(BOARDS))(
  "the example of a %s keeps the promises of a channel",
  { timeout: 240_000 },
  async (_, use) => {
    const outcomes = await conformBoard(use);
    expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(outcomes).toHaveLength(14);
  },
);

/** A home with the example in the folder `channels/board`. */
function homeWithPlugin(entry: object = {}) {
  const folder = temporaryFolder();
  const home = folder.path;
  const board = { use: "./channels/board", url: "http://127.0.0.1:1", tokenEnv: "BOARD_TOKEN", ...entry };
  writeHome(home, { cortex: { channels: { board } } });
  cpSync(join(EXAMPLES, "channel-board"), join(home, "channels", "board"), { recursive: true });
  return {
    home,
    plugin: join(home, "channels", "board"),
    config: () => readFileSync(join(home, "config", "cortex.json"), "utf8"),
    cortex: (...argv: readonly string[]) => runHere(environmentOf(home), argv),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test("a plugin is refused until it is pinned, and again once it has changed", async () => {
  using given = homeWithPlugin();
  const refused = async (): Promise<string> => {
    const log: string[] = [];
    await using cortex = await openTestCortex({}, { home: given.home, log: (line) => void log.push(line) });
    await expect.poll(() => log.join("\n"), PATIENT).toContain("channel board");
    expect(cortex.channels.list()).toEqual([]);
    return log.join("\n");
  };
  expect(await refused()).toContain("is not pinned");

  const checked = JSON.parse((await given.cortex("channels", "pin", "board", "--check", "--json")).out);
  expect(checked).toMatchObject({
    pinned: false,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    changes: { added: ["index.js", "package.json"] },
  });
  expect(await refused()).toContain(checked.sha256);
  expect((await given.cortex("channels", "pin", "board")).out).toContain("Pinned");
  expect(JSON.parse(given.config())).toMatchObject({ channels: { board: { sha256: checked.sha256 } } });
  expect((await given.cortex("plugins", "list", "--json")).out).not.toContain("channels/board");

  writeFileSync(join(given.plugin, "index.js"), "export default {};\n");
  expect(await refused()).toContain("has changed since it was pinned");
  const { out } = await given.cortex("channels", "pin", "board");
  expect(out).toContain("~ index.js");
  expect(await refused()).toContain("has version undefined of the port");
});

test("a pin keeps the comments of the configuration", async () => {
  using given = homeWithPlugin();
  const path = join(given.home, "config", "cortex.json");
  writeFileSync(
    path,
    `{\n  // mine\n  "channels": {\n    "board": { "use": "./channels/board" } // board\n  }\n}\n`,
  );
  await given.cortex("channels", "pin", "board");
  expect(given.config()).toMatch(/\/\/ mine\n[^]*"sha256": "[0-9a-f]{64}"[^]*\/\/ board/);
});

test.each([
  ["paired", "expected a list"],
  ["telegram", "unknown key"],
  ["slack", "unknown key"],
  ["matrix", "not available in this version"],
  ["timer", "is reserved"],
  ["http", "is reserved"],
  ["agent", "is reserved"],
  ["Board", "invalid channel name"],
])("a plugin cannot be called %s", async (name, reason) => {
  using folder = temporaryFolder();
  writeHome(folder.path, { cortex: { channels: { [name]: { use: "./channels/board" } } } });
  const { err, out } = await runHere(environmentOf(folder.path), ["config", "--json"]);
  expect(`${err}${out}`).toContain(reason);
});

test("a mistake in an entry is told like any other", async () => {
  using given = homeWithPlugin({ groups: "sometimes", sha256: "short" });
  const { err, out } = await given.cortex("config");
  expect(`${err}${out}`).toMatch(/channels\.board\.groups[^]*expected one of mention, all, off/);
  expect(`${err}${out}`).toContain("expected 64 hexadecimal digits");
});
