/** The package as somebody else installs it: packed, unpacked far from here, with its dependencies only. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "./support/temporary.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const PROGRAM = `
  import { createCortex } from "cortexd";
  const home = process.env.CORTEX_HOME;
  await using cortex = await createCortex({ home, flags: { profile: "offline" } });
  const { item } = await cortex.send({ content: "hello" });
  const { turn } = await cortex.outcome(item, AbortSignal.timeout(60_000));
  console.log((await cortex.store.turns.read(turn)).messages.at(-1).content);
`;

test("the packed package runs where it is installed", { timeout: 120_000 }, () => {
  using folder = temporaryFolder();
  execFileSync("npm", ["pack", "--pack-destination", folder.path], { cwd: ROOT, stdio: "pipe" });
  const [tarball] = readdirSync(folder.path);
  const installed = join(folder.path, "node_modules", "cortexd");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder.path, tarball!), "-C", installed, "--strip-components=1"]);

  expect(readdirSync(installed).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "bin",
    "CHANGELOG.md",
    "dist",
    "hooks",
    "LICENSE",
    "package.json",
    "README.md",
    "relays",
  ]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const link = join(folder.path, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }

  const env = { PATH: process.env["PATH"], CORTEX_HOME: join(folder.path, "home") };
  const cortex = (...args: string[]): string =>
    execFileSync(process.execPath, [join(installed, "bin/cortex.js"), ...args], { env, encoding: "utf8" });
  expect(cortex("version")).toMatch(/^cortex \d+\.\d+\.\d+ \(node \d+/);
  const program = join(folder.path, "program.mjs");
  writeFileSync(program, PROGRAM);
  expect(execFileSync(process.execPath, [program], { env, encoding: "utf8" })).toContain("offline model");
  expect(cortex("verify")).toContain("are as they were written");
  expect(cortex("hooks")).toMatch(/^default-dm-routing +active/m);
  cortex("init");
  expect(cortex("relay", "validate")).toMatch(
    /\n4 templates and 9 agents can be used: 0 problems, 0 warnings\.\n$/,
  );
  expect(cortex("hooks")).not.toContain("errored");
  const tsconfig = readFileSync(join(folder.path, "home", "hooks", "tsconfig.json"), "utf8");
  const [types] = JSON.parse(tsconfig).compilerOptions.paths["cortexd/hooks"];
  expect(readFileSync(types, "utf8")).toContain("export interface HookContext");
});
