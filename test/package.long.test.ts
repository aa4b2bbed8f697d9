/** The package as somebody else installs it: packed, unpacked far from here, with its dependencies only. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { Sbom } from "../packaging/sbom.ts";
import { environmentOf, fetchJson, readNote, type Started, watch } from "./support/cli.ts";
import { PATIENT } from "./support/server.ts";
import { bytesBelow, temporaryFolder } from "./support/temporary.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LONG = { timeout: 240_000 };

/** What a release may weigh. Whoever needs more raises the limit in the commit that needs it, and says why. */
const MAX_PACKED_BYTES = 1_800_000;
const MAX_UNPACKED_BYTES = 8_000_000;

const folder = temporaryFolder();
const modules = join(folder.path, "node_modules");
const installed = join(modules, "cortexd");
let packedBytes = 0;

/** As npm does it, but with the dependencies that are here already. */
beforeAll(() => {
  execFileSync("npm", ["pack", "--pack-destination", folder.path], { cwd: ROOT, stdio: "pipe" });
  const [tarball] = readdirSync(folder.path);
  packedBytes = statSync(join(folder.path, tarball!)).size;
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder.path, tarball!), "-C", installed, "--strip-components=1"]);
  const { dependencies, bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Record<
    "dependencies" | "bin",
    Record<string, string>
  >;
  for (const name of Object.keys(dependencies)) link(join(ROOT, "node_modules", name), join(modules, name));
  for (const [name, path] of Object.entries(bin)) link(join(installed, path), join(modules, ".bin", name));
}, LONG.timeout);

afterAll(() => folder[Symbol.dispose]());

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

test("the package holds the program, what comes with it, and all that its texts refer to", () => {
  expect(readdirSync(installed).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "ARCHITECTURE.md",
    "bench",
    "bin",
    "CHANGELOG.md",
    "dist",
    "docs",
    "hooks",
    "LICENSE",
    "package.json",
    "README.md",
    "relays",
  ]);
  const documentation = readdirSync(join(installed, "docs"), { encoding: "utf8", recursive: true });
  expect(documentation.filter((path) => /^build|\.ts$/.test(path))).toEqual([]); // how pages and pictures are made
  const texts = [
    "README.md",
    ...documentation.flatMap((path) => (path.endsWith(".md") ? [`docs/${path}`] : [])),
  ];
  for (const text of texts) {
    const links = readFileSync(join(installed, text), "utf8").matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g);
    const missing = Array.from(links, ([, path]) => path!).filter(
      (path) => !existsSync(join(installed, dirname(text), path)),
    );
    expect([text, missing]).toEqual([text, []]);
  }
});

test("the package lists what it depends on: each production dependency with its version and hash", () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Readonly<
      Record<string, { version: string; integrity: string; dev?: boolean; devOptional?: boolean }>
    >;
  };
  const { components } = JSON.parse(readFileSync(join(installed, "dist/sbom.json"), "utf8")) as Sbom;
  const listed = components.map(({ name, version, hashes: [hash] }) => `${name} ${version} ${hash!.content}`);
  const locked = Object.entries(packages).flatMap(([path, { version, integrity, dev, devOptional }]) => {
    const isLeftOut = path === "" || dev === true || devOptional === true;
    const hash = isLeftOut ? "" : Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
    return isLeftOut ? [] : [`${path.split("node_modules/").at(-1)} ${version} ${hash}`];
  });
  expect(locked.length).toBeGreaterThan(100);
  expect(listed.toSorted()).toEqual([...new Set(locked)].toSorted());
});

test("the package stays small, packed and unpacked", () => {
  expect(packedBytes).toBeLessThan(MAX_PACKED_BYTES);
  expect(bytesBelow(installed)).toBeLessThan(MAX_UNPACKED_BYTES);
});

test("another program uses the package as a library", LONG, () => {
  const program = join(folder.path, "program.mjs");
  writeFileSync(
    program,
    `import * as cortexd from "cortexd";
    import * as hooks from "cortexd/hooks";
    console.log(Object.keys(cortexd), Object.keys(hooks));
    const { createCortex } = cortexd;
    const home = process.env.CORTEX_HOME;
    await using cortex = await createCortex({ home, flags: { profile: "offline" } });
    const { item } = await cortex.send({ content: "hello" });
    const { turn } = await cortex.outcome(item, AbortSignal.timeout(60_000));
    console.log((await cortex.store.turns.read(turn)).messages.at(-1).content);`,
  );
  const env = environmentOf(join(folder.path, "library"));
  const out = execFileSync(process.execPath, [program], { env, encoding: "utf8" });
  expect(out.split("\n", 1)).toEqual(["[ 'CortexError', 'createCortex' ] [ 'cronMatches' ]"]);
  expect(out).toContain("offline model");
});

test("the types of the package are those of the library and of hooks", LONG, () => {
  writeFileSync(
    join(folder.path, "typed.mts"),
    `import { type Cortex, createCortex, CortexError, type Relays } from "cortexd";
    import { cronMatches, type HookContext } from "cortexd/hooks";
    const cortex: Cortex = await createCortex({ home: "home" });
    const relays: Relays = cortex.relays;
    const matches: boolean = cronMatches("* * * * *", new Date());
    export const sender = ({ event }: HookContext): string | null => event.sender_id;
    // @ts-expect-error -- no such method
    cortex.nothing();
    export { CortexError, matches, relays };`,
  );
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
  const lib = [
    "--lib",
    "es2024,esnext.disposable",
    "--types",
    "node",
    "--typeRoots",
    join(ROOT, "node_modules/@types"),
  ];
  const types = { cwd: folder.path, encoding: "utf8" } as const;
  expect(spawnSync(tsc, [...options, ...lib, "typed.mts"], types)).toMatchObject({ stdout: "", status: 0 });
});

test(
  "a channel plugin finds the port of channels in the package, and in a home beside it",
  LONG,
  async () => {
    const program = join(folder.path, "channel.mjs");
    writeFileSync(
      program,
      `import { conformance, deliveryFailed } from "cortexd/channels";
    const checks = await conformance("telegram", () => Promise.reject(new Error("none")));
    console.log(checks.length, deliveryFailed("busy", { hint: "" }).code);`,
    );
    expect(execFileSync(process.execPath, [program], { encoding: "utf8" })).toBe("16 delivery_failed\n");

    const home = join(folder.path, "channel-home");
    const env = environmentOf(home);
    cpSync(join(installed, "docs/examples/channel-board"), join(home, "channels/board"), { recursive: true });
    mkdirSync(join(home, "config"));
    const board = { use: "./channels/board", url: "http://127.0.0.1:1", tokenEnv: "BOARD_TOKEN" };
    writeFileSync(join(home, "config", "cortex.json"), JSON.stringify({ channels: { board } }));
    const args = [join(installed, "bin/cortex.js"), "channels", "pin", "board"];
    execFileSync(process.execPath, args, { env });
    const started = watch(
      spawn(process.execPath, [join(installed, "bin/cortex.js"), "up", "--port", "0"], {
        env: { ...env, BOARD_TOKEN: "token" },
      }),
    );
    await started.says("Channel board: ");
    started.child.kill("SIGTERM");
    expect((await started.ended).err).not.toContain("Cannot open the channel");
  },
);

const HOOK = `
import type { Filter, HookContext, HookResult } from "cortexd/hooks";
export const filter: Filter = { channels: ["webhook"], senders: ["shop"] };
export default async function ({ event }: HookContext): Promise<HookResult> {
  return { fire: true, context: { prompt: \`An order of \${String(event.payload.amount)}.\` } };
}
`;

const VERIFIED = /\d+ turns and \d+ audit entries verified/;

test("a newcomer gets through with nothing but what is installed", LONG, async () => {
  const home = join(folder.path, "home");
  mkdirSync(home);
  const env = environmentOf(home);
  const start = (...args: string[]): Started =>
    watch(spawn(process.execPath, [join(installed, "bin/cortex.js"), ...args], { env, cwd: folder.path }));
  const cortexd = async (...args: string[]): Promise<string> => {
    const started = start(...args);
    started.child.stdin.end();
    const { code, out, err } = await started.ended;
    if (code !== 0) throw new Error(`cortexd ${args.join(" ")} ended with ${code}: ${out}${err}`);
    return out;
  };

  const path = [dirname(process.execPath), env["PATH"]].join(delimiter);
  const npx = { env: { ...env, PATH: path }, cwd: folder.path, encoding: "utf8" } as const;
  expect(execFileSync("npx", ["--no", "cortexd", "version"], npx)).toMatch(
    /^cortex \d+\.\d+\.\d+ \(node \d+/,
  );

  expect(await cortexd("init", "--yes")).toContain("Now try:");
  const { compilerOptions } = JSON.parse(readFileSync(join(home, "hooks", "tsconfig.json"), "utf8"));
  const [types] = compilerOptions.paths["cortexd/hooks"];
  expect(readFileSync(types, "utf8")).toContain("export interface HookContext");
  const webhooks = { shop: { scheme: "unsigned" } };
  writeFileSync(join(home, "config", "cortex.json"), JSON.stringify({ channels: { webhooks } }));
  writeFileSync(join(home, "hooks", "orders.ts"), HOOK);

  const server = start("up", "--port", "0");
  await server.says("Ctrl-C stops it");
  const { turnId } = JSON.parse(await cortexd("send", "--wait", "hello", "--json")) as { turnId: string };
  expect(await cortexd("fork", turnId, "and if not?", "--session", "agent:main:other", "--wait")).toContain(
    "offline model",
  );
  expect(await cortexd("diff", turnId, "agent:main:other")).toContain("+> and if not?");

  const { host, port } = readNote(home);
  const body = JSON.stringify({ id: "order-17", amount: 100 });
  expect((await fetch(`http://${host}:${port}/webhooks/shop`, { method: "POST", body })).status).toBe(202);
  await expect
    .poll(() => fetchJson(home, "/api/events?channel=webhook"), PATIENT)
    .toMatchObject({ items: [{ direction: "sent" }, { direction: "received" }] });
  expect(await cortexd("events", "--why", "--channel", "webhook")).toContain("hook orders fired");
  expect(await cortexd("hooks")).not.toContain("errored");

  expect(await cortexd("relay", "validate")).toContain("usable agents, 0 problems, 0 warnings.");
  expect(await cortexd("relay", "run", "doc-review", "A short note", "--wait")).toContain("offline model");

  await cortexd("team", "init");
  const project = join(folder.path, "project");
  mkdirSync(project);
  await cortexd("team", "register", "Writer", "--project", project, "--role", "Write it.");
  await cortexd("team", "dispatch", "writer", "A note", "Say hello.");
  await cortexd("team", "tick");
  const tasks = join(home, "cortex-team", "agents", "writer", "tasks.md");
  await expect.poll(() => readFileSync(tasks, "utf8"), PATIENT).toContain("**Status:** done");

  expect(await cortexd("search", "short note")).toContain("A short note");
  expect(await cortexd("backup", join(folder.path, "cortex.backup"))).toMatch(VERIFIED);
  expect(await cortexd("doctor", "--offline")).toContain("0 failures");
  expect(await cortexd("verify")).toMatch(VERIFIED);
  server.child.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);
});

test("the demo runs from the package, and leaves nothing behind", LONG, () => {
  const TMPDIR = join(folder.path, "temporary");
  mkdirSync(TMPDIR);
  const env = { ...environmentOf(join(folder.path, "nobody")), TMPDIR };
  const demo = [join(installed, "bin/cortex.js"), "demo", "--quiet"];
  expect(execFileSync(process.execPath, demo, { env, encoding: "utf8" }).match(/✓/g)).toHaveLength(8);
  expect(readdirSync(TMPDIR)).toEqual([]);
});
