import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { MARK, serviceFile, type ServiceDefinition } from "./service-file.ts";

/** Where systemd is, this is. */
const ANALYZE = "systemd-analyze";

const PARTS: ServiceDefinition = {
  platform: "linux",
  home: "/home/me/.cortex",
  isDefaultHome: true,
  userFolder: "/home/me",
  configFolder: undefined,
  program: ["/usr/bin/node", "/usr/bin/cortex"],
  path: "/usr/bin:/bin",
};

describe("for systemd", () => {
  test("it starts the server of the home, and not again after it has refused to start", () => {
    const { name, path, content } = serviceFile(PARTS);
    expect([name, path]).toEqual(["cortex.service", "/home/me/.config/systemd/user/cortex.service"]);
    expect(content).toContain(MARK);
    expect(content).toContain(
      'ExecStart="/usr/bin/node" "/usr/bin/cortex" "up" "--quiet" "--home" "/home/me/.cortex"\n',
    );
    expect(content).toContain("RestartPreventExitStatus=78\n");
  });

  test("what systemd would read as its own is quoted", () => {
    const { content } = serviceFile({ ...PARTS, home: '/a "b" $C %d \\e', path: "/$X/%y" });
    expect(content).toContain(String.raw`"--home" "/a \"b\" $$C %%d \\e"`);
    expect(content).toContain('Environment="PATH=/$X/%%y"\n');
  });

  test("no name begins a line of its own", () => {
    const { content } = serviceFile({ ...PARTS, home: "/a\nExecStartPre=b\rExecStartPre=c" });
    expect(content).not.toMatch(/[\n\r]ExecStartPre/);
  });

  test.runIf(spawnSync(ANALYZE, ["--version"]).status === 0)("systemd finds nothing wrong with it", () => {
    using folder = temporaryFolder();
    const program = [process.execPath, join(folder.path, "it's 100 % $HOME.js")];
    const { name, content } = serviceFile({ ...PARTS, home: folder.path, program });
    const path = join(folder.path, name);
    writeFileSync(path, content);
    const { stderr } = spawnSync(ANALYZE, ["--user", "verify", "--man=no", path], {
      encoding: "utf8",
      env: { ...process.env, XDG_RUNTIME_DIR: folder.path },
    });
    expect(stderr.split("\n").filter((line) => line.includes(name))).toEqual([]);
  });
});

test("for launchd it is a property list with everything that means something in XML escaped", () => {
  const { name, path, content } = serviceFile({ ...PARTS, platform: "darwin", home: "/a & <b>" });
  expect([name, path]).toEqual(["cortex", "/home/me/Library/LaunchAgents/cortex.plist"]);
  expect(content).toContain(MARK);
  expect(content).toContain("<string>/a &amp; &lt;b&gt;</string>");
  expect(content).not.toMatch(/& |<b>/);
});

test("each home has a service of its own, with a name that a file can have", () => {
  const names = ["/a/work", "/b/work", "/a/ü ü", "/"].map(
    (home) => serviceFile({ ...PARTS, isDefaultHome: false, home }).name,
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^cortex-[\w-]+-[0-9a-f]{6}\.service$/);
});

test("the user's folder of configuration counts", () => {
  expect(serviceFile({ ...PARTS, configFolder: "/etc/me" }).path).toBe("/etc/me/systemd/user/cortex.service");
});
