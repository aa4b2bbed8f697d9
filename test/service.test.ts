/** `cortex service` from outside, with a systemctl that only writes down what it is asked. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { BIN, environmentOf, run, runJson, startServer } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** It runs from the moment at which it is restarted until it is disabled. */
const SYSTEMCTL = `#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/asked"
case "$2" in
  is-active) test -e "$here/active" ;;
  restart) touch "$here/active" ;;
  disable) rm -f "$here/active" ;;
esac
`;
const NO_BUS = `#!/bin/sh
echo "Failed to connect to bus: No medium found" >&2
exit 1
`;

describe.runIf(process.platform === "linux")("on Linux", () => {
  const path = process.env["PATH"];
  let tools: ReturnType<typeof temporaryFolder>;
  let home: ReturnType<typeof temporaryFolder>;

  beforeEach(() => {
    tools = temporaryFolder();
    home = temporaryFolder();
    process.env["PATH"] = `${tools.path}:${path}`;
    play(SYSTEMCTL);
  });

  afterEach(() => {
    process.env["PATH"] = path;
    tools[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  function play(systemctl: string): void {
    const program = join(tools.path, "systemctl");
    writeFileSync(program, systemctl);
    chmodSync(program, 0o755);
  }

  const asked = (): string[] => {
    const list = join(tools.path, "asked");
    const lines = existsSync(list) ? readFileSync(list, "utf8").trimEnd().split("\n") : [];
    rmSync(list, { force: true });
    return lines
      .map((line) => line.replace(/ cortex-\S+\.service$/, ""))
      .filter((line) => !line.includes("is-active"));
  };
  const units = (): string[] => {
    const folder = join(home.path, ".config", "systemd", "user");
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const service = (...args: string[]) => run(home.path, ["service", ...args]);

  test("it is installed, started, installed again to no effect, and uninstalled", async () => {
    expect(await runJson(home.path, "service", "status")).toMatchObject({
      installed: "no",
      state: "stopped",
    });
    expect(await service("install")).toMatchObject({ code: 0, out: expect.stringContaining("Wrote ") });
    expect(asked()).toEqual(["--user daemon-reload", "--user enable", "--user restart"]);
    expect(units()).toEqual([expect.stringMatching(/^cortex-.*\.service$/)]);
    expect(await runJson(home.path, "service", "status")).toMatchObject({
      installed: "yes",
      state: "running",
    });

    expect(await service("install")).toMatchObject({
      code: 0,
      out: expect.stringContaining("installed and running"),
    });
    expect(asked()).toEqual([]);

    expect(await service("uninstall")).toMatchObject({ code: 0, out: expect.stringContaining("Removed ") });
    expect(asked()).toEqual(["--user disable --now", "--user daemon-reload"]);
    expect(units()).toEqual([]);
    expect(await service("uninstall")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Not installed: "),
    });
  });

  test("with --dry-run it shows the file and the commands, and does nothing", async () => {
    expect(await service("install", "--dry-run")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ExecStart=[^]*systemctl --user enable/),
    });
    expect([units(), asked()]).toEqual([[], []]);
  });

  test("what npx calls by a link among its copies is installed from where it is", async () => {
    const link = join(tools.path, "_npx", "cortex");
    mkdirSync(join(tools.path, "_npx"));
    symlinkSync(BIN, link);
    const env = { ...environmentOf(home.path), PATH: `/clone/node_modules/.bin:${process.env["PATH"]}` };
    const { stdout, stderr } = spawnSync(process.execPath, [link, "service", "install", "--dry-run"], {
      env,
    });
    expect({ out: String(stdout), err: String(stderr) }).toEqual({
      out: expect.stringContaining(BIN),
      err: "",
    });
    expect(String(stdout)).not.toContain("/clone/node_modules/.bin");
  });

  test("where there is no systemd to talk to, the file is written and the commands are named", async () => {
    play(NO_BUS);
    expect(await service("install")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Not started: .*bus[^]*systemctl --user daemon-reload/),
    });
    expect(units()).toHaveLength(1);
    expect(await runJson(home.path, "service", "status")).toMatchObject({
      installed: "yes",
      state: "unknown",
    });
    expect((await service("uninstall")).code).toBe(0);
    expect(units()).toEqual([]);
  });

  test("a file that somebody else wrote is left alone", async () => {
    const { path: file } = (await runJson(home.path, "service", "status")) as { path: string };
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "[Unit]\n");
    for (const command of ["install", "uninstall"])
      expect(await service(command)).toMatchObject({
        code: 1,
        err: expect.stringContaining("not written by Cortex"),
      });
    expect(readFileSync(file, "utf8")).toBe("[Unit]\n");
  });

  test("it does not start beside a server that runs", async () => {
    await using server = await startServer(home.path);
    expect(await service("install")).toMatchObject({
      code: 1,
      err: expect.stringContaining(`kill ${server.child.pid}`),
    });
    expect(units()).toEqual([]);
  });
});
