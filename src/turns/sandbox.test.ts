import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { findSandbox } from "../../test/support/sandbox.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { Config } from "../config/config.ts";
import { describeSandbox, findBubblewrap, openSandbox, sandboxMode } from "./sandbox.ts";

const working = { bubblewrap: "/usr/bin/bwrap" };
const missing = { problem: "bubblewrap is not installed", hint: "Install it" };
const real = await findSandbox("that the bubblewrap of this machine is found");

test.each([
  ["auto", working, "sandboxed", "Agent commands run in a sandbox, because /usr/bin/bwrap works here."],
  ["require", working, "sandboxed", "Agent commands run in a sandbox, because /usr/bin/bwrap works here."],
  ["auto", missing, "asks", "Each agent command needs your approval, because bubblewrap is not installed."],
  ["require", missing, "refuses", "Agent commands are refused, because bubblewrap is not installed."],
  [
    "off",
    working,
    "plain",
    "Agent commands run without a sandbox, with all your permissions, because the configuration disables the sandbox.",
  ],
] as const)("%s with %j: %s", (setting, found, effective, sentence) => {
  const mode = sandboxMode(setting, found);
  expect(mode).toMatchObject({ setting, effective });
  expect(mode.bubblewrap).toBe(effective === "sandboxed" ? "/usr/bin/bwrap" : undefined);
  expect(mode.hint === undefined).toBe(effective === "sandboxed");
  expect(describeSandbox(mode)).toBe(sentence);
});

test.each([{}, { PATH: "" }, { PATH: "/nonexistent::relative:." }])(
  "with %j there is none",
  async (environment) => {
    expect(await findBubblewrap(environment)).toMatchObject({ problem: "bubblewrap is not installed" });
  },
);

test("one that is installed and does not work is none, and what it said is the reason", async () => {
  using folder = temporaryFolder();
  const program = join(folder.path, "bwrap");
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  chmodSync(program, 0o755);
  expect(await findBubblewrap({ PATH: `${folder.path}:/usr/bin:/bin` })).toEqual({
    problem: `${program} does not work here (bwrap: No permissions to create new namespace)`,
    hint: expect.stringContaining("namespaces"),
  });
  writeFileSync(program, "", { mode: 0o644 });
  chmodSync(program, 0o644);
  expect(await findBubblewrap({ PATH: folder.path })).toMatchObject({
    problem: "bubblewrap is not installed",
  });
});

test("one that cannot keep programs from making namespaces of their own is too old", async () => {
  using folder = temporaryFolder();
  const program = join(folder.path, "bwrap");
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n");
  chmodSync(program, 0o755);
  expect(await findBubblewrap({ PATH: `${folder.path}:/usr/bin:/bin` })).toEqual({
    problem: `${program} is older than 0.8`,
    hint: expect.stringContaining("Update bubblewrap"),
  });
});

test("the mode follows the setting, and what is installed when it is looked for again", async () => {
  using folder = temporaryFolder();
  const team = join(realpathSync(folder.path), "team");
  let setting: Config["sandbox"] = "auto";
  const watch = await openSandbox({
    home: "/srv/cortex",
    environment: { PATH: `${folder.path}:/usr/bin:/bin` },
    setting: () => setting,
    sharedFolders: () => Promise.resolve([team]),
  });
  setting = "off";
  expect(watch.mode()).toMatchObject({ setting, effective: "plain" });
  expect(watch.sandbox()).toBeUndefined();

  // Whatever follows the options of bubblewrap is run as it is: a sandbox that holds nothing back.
  const program = join(folder.path, "bwrap");
  writeFileSync(program, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n');
  chmodSync(program, 0o755);
  await watch.lookAgain();
  setting = "require";
  expect(watch.mode()).toMatchObject({ effective: "sandboxed", bubblewrap: program });
  expect(watch.sandbox()).toMatchObject({ bubblewrap: program, hidden: ["/srv/cortex"] });
  expect(await watch.sandbox()?.readOnly?.()).toEqual([]);
  for (const name of ["objects", "refs"]) mkdirSync(join(team, ".git", name), { recursive: true });
  writeFileSync(join(team, ".git/HEAD"), "");
  expect(await watch.sandbox()?.readOnly?.()).toEqual([join(team, ".git")]);
});

test.skipIf(real === undefined)("the one of this machine works", async () => {
  expect(await findBubblewrap({ PATH: process.env["PATH"] })).toEqual(real);
});

test.skipIf(real === undefined)(
  "an agent's command finds nothing of the home but its workspace",
  async () => {
    const command =
      "cat ../../data/token ../../data/cortex.db ../../config/.env ../../config/cortex.json; ls ../.. ..; env; echo x > file";
    const script = `- { when: .*, plays: [{ calls: [{ tool: Bash, args: { command: "${command}" } }] }, { say: done }] }`;
    await using cortex = await openTestCortex({ script });
    mkdirSync(join(cortex.home, "workspaces", "other"), { recursive: true });
    writeFileSync(join(cortex.home, "data", "token"), "canary");
    writeFileSync(join(cortex.home, "config", ".env"), "A=canary");
    const { item } = await cortex.send({ content: "look around" });
    const outcome = await cortex.outcome(item, new AbortController().signal);
    if (outcome?.kind !== "turn") throw new Error(JSON.stringify(outcome));
    const [call] = (await cortex.store.turns.read(outcome.turn))!.toolCalls;
    const { text } = call!.result as { text: string };
    expect(text.match(/No such file or directory/g)).toHaveLength(4);
    expect(text).not.toMatch(/canary|other|SQLite/);
    expect(readFileSync(join(cortex.home, "workspaces", "main", "file"), "utf8")).toBe("x\n");
  },
);
