import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, test } from "vitest";

import { findSandbox } from "../../../test/support/sandbox.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import type { ToolContext } from "../../model/tool.ts";
import { bashTool, createBashTool } from "./bash.ts";
import { PROGRAM_LIMITS } from "./run-program.ts";
import { inSandbox } from "./sandbox.ts";

const sandbox = await findSandbox("what commands can reach from inside the sandbox");

function sandboxed(fields: Partial<ToolContext> = {}) {
  return testWorkspace({ sandbox, ...fields });
}

async function bash(context: ToolContext, command: string): Promise<string> {
  return (await callTool(bashTool, { command }, context)).text;
}

test("without a sandbox a program is started as it is", async () => {
  using files = testWorkspace();
  const program = { file: "/bin/true", args: ["a"], folder: "/", environment: { A: "b" } };
  expect(await inSandbox(program, files.context, { drainMs: 1 })).toBe(program);
});

test("what stands in the environment is not among the arguments, which everybody can read", async () => {
  using files = testWorkspace({ sandbox: { bubblewrap: "/usr/bin/bwrap" } });
  const program = {
    file: "/bin/true",
    args: [],
    folder: files.context.workspace,
    environment: { KEY: "secret" },
  };
  const { args, environment } = await inSandbox(program, files.context, { drainMs: 1 });
  expect(environment["KEY"]).toBe("secret");
  expect(args.join(" ")).not.toContain("secret");
});

describe.skipIf(sandbox === undefined)("in the sandbox", () => {
  test("a command works in its workspace, and its output and exit code are its own", async () => {
    using files = sandboxed();
    const { workspace } = files.context;
    const command = "pwd; [[ -n $BASH_VERSION ]] && echo bash; echo kept > file; echo wrong >&2; exit 3";
    expect(await callTool(bashTool, { command }, files.context)).toMatchObject({
      text: `${workspace}\nbash\nwrong\n\n[Exit code 3]`,
      isError: true,
      details: { exitCode: 3, signal: null },
    });
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("kept\n");
    expect(await bash(files.context, "true")).toBe("(no output)");
    expect(await bash(files.context, "kill -KILL $$")).toContain("[Exit code 137]");
  });

  test("nothing is inherited but the given environment", async () => {
    using files = sandboxed({ environment: { PATH: "/usr/bin:/bin", COLOUR: "green", HOME: "/root" } });
    const own = /^(PWD|OLDPWD|SHLVL|_)=/; // The shell's own.
    const lines = (await bash(files.context, "env")).split("\n").filter((line) => !own.test(line));
    expect(lines.toSorted()).toEqual([
      "COLOUR=green",
      "HOME=/tmp",
      "LOGNAME=agent",
      "PATH=/usr/bin:/bin",
      "TMPDIR=/tmp",
      "USER=agent",
    ]);
  });

  test("what is beside the workspace is not there, by path or by link", async () => {
    using files = sandboxed();
    const secret = join(files.outside, "secret");
    writeFileSync(secret, "canary");
    symlinkSync(secret, join(files.context.workspace, "link"));
    symlinkSync("/etc/shadow", join(files.context.workspace, "shadow"));
    const command = `cat link shadow '${secret}' /etc/shadow /etc/hostname /proc/1/environ; ls -d /root /sys`;
    const text = await bash(files.context, command);
    expect(text).not.toContain("canary");
    expect(text.match(/No such file or directory/g)).toHaveLength(7);
  });

  test("the system cannot be changed, and nobody in there can make it changeable", async () => {
    using files = sandboxed();
    const marks = ["/usr/cortex-test", "/etc/cortex-test", "/cortex-test", "/bin/cortex-test"];
    const command = [
      `touch ${marks.join(" ")}`,
      "mount -o remount,rw,bind /usr; umount /usr",
      "unshare -Ur sh -c 'mount -o remount,rw,bind /usr; touch /usr/cortex-test'",
      "grep CapEff /proc/self/status; id -un",
    ].join("; ");
    expect(await bash(files.context, command)).toMatch(/CapEff:\s0{16}\nagent$/);
    expect(marks.filter((path) => existsSync(path))).toEqual([]);
  });

  test("a command gets no namespace of its own, where it could leave mounts behind that guard files", async () => {
    using files = sandboxed();
    const { workspace } = files.context;
    execFileSync("git", ["init", "--quiet", workspace]);
    // It keeps its working directory, detaches the tree of mounts, and what was mounted on is a plain folder again.
    const detach =
      'my ($new, $old, $at) = qw(/tmp/n /tmp/n/old /old); syscall(155, $new, $old); syscall(166, $at, 2); rename ".git", "moved"';
    const nested = `mount -t tmpfs none /tmp/n && mkdir /tmp/n/old && perl -e '${detach}'`;
    const command = `mkdir /tmp/n; unshare --user --map-root-user --mount sh -c "$NESTED"`;
    const text = await bash(
      { ...files.context, environment: { ...files.context.environment, NESTED: nested } },
      command,
    );
    expect(text).toContain("unshare failed");
    expect(existsSync(join(workspace, "moved"))).toBe(false);
  });

  test("a temporary file is gone with the command, and is nowhere outside", async () => {
    using files = sandboxed();
    expect(await bash(files.context, "echo x > /tmp/cortex-private && cat /tmp/cortex-private")).toBe("x");
    expect(existsSync("/tmp/cortex-private")).toBe(false);
    expect(await bash(files.context, "ls /tmp/cortex-private")).toContain("No such file");
  });

  test("there is no network, and this machine's own servers are out of reach", async () => {
    await using server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    using files = sandboxed();
    expect(await bash(files.context, `cat < /dev/tcp/127.0.0.1/${port}`)).toContain("Connection refused");
    expect(await bash(files.context, "cat < /dev/tcp/192.0.2.1/80")).toContain("unreachable");
    const inside = "exec 3<>/dev/tcp/localhost/1; getent hosts localhost";
    expect(await bash(files.context, inside)).toMatch(/Connection refused[^]*127\.0\.0\.1\s+localhost/);
  });

  test("processes of this machine are not seen", async () => {
    using files = sandboxed();
    // Bubblewrap, the shell that it has started, and this one.
    expect(await bash(files.context, `kill -0 ${process.pid}; set -- /proc/[0-9]*; echo $#`)).toMatch(
      /^.*No such process\n3$/,
    );
  });

  test("what a tool result points at can be read, and not be changed", async () => {
    using files = sandboxed();
    const text = await bash(files.context, "seq 3000");
    const path = /The full output is in (\S+)\]/.exec(text)![1]!;
    expect(await bash(files.context, `head -1 ${path}; echo x > ${path}`)).toMatch(
      /^1\n.*Read-only file system/,
    );
  });

  test("allowed folders can be changed: with spaces and quotes, a dash, as a link, as one file", async () => {
    using folder = temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    for (const name of ["-rf", `it's "odd" $(x) \n`, "real", "beside"]) mkdirSync(at(name));
    symlinkSync(at("real"), at("link"));
    writeFileSync(at("file"), "");
    const roots = ["-rf", `it's "odd" $(x) \n`, "link", "file", "missing"].map(at);
    using files = sandboxed({ roots, environment: { PATH: "/usr/bin:/bin", BASE: folder.path } });
    const command = [
      `cd "$BASE"; echo 1 > ./-rf/a; echo 2 > "it's \\"odd\\" \\$(x) "$'\\n'/a; echo 3 > link/a; echo 4 > file`,
      `ls -A`,
    ].join("; ");
    expect(await bash(files.context, command)).not.toContain("beside");
    expect(
      [`-rf/a`, `it's "odd" $(x) \n/a`, "real/a", "file"].map((name) => readFileSync(at(name), "utf8")),
    ).toEqual(["1\n", "2\n", "3\n", "4\n"]);
  });

  test("an odd workspace is a workspace", async () => {
    using folder = temporaryFolder();
    const workspace = join(folder.path, `-it's\n"$HOME"`);
    mkdirSync(workspace);
    using files = sandboxed({ workspace });
    expect(await bash(files.context, "echo here > file; cat file")).toBe("here");
    expect(readdirSync(workspace)).toEqual(["file"]);
  });

  test.skipIf(process.getuid?.() !== 0)("a workspace inside what is read-only can be changed", async () => {
    using folder = temporaryFolder("/usr/local");
    const workspace = join(folder.path, "workspace");
    mkdirSync(workspace);
    writeFileSync(join(folder.path, "secret"), "canary");
    using files = sandboxed({ workspace, sandbox: { ...sandbox!, hidden: [folder.path] } });
    expect(await bash(files.context, "echo here > file; cat file; ls ..; cat ../secret")).toMatch(
      /^here\nworkspace\ncat: .*No such file/,
    );
  });

  test("a hidden folder is not seen inside an allowed one, but for the workspace in it", async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, "home");
    const workspace = join(home, "workspaces", "main");
    for (const path of [workspace, join(home, "data"), join(home, "workspaces", "other")])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(home, "data", "token"), "canary");
    writeFileSync(join(folder.path, "notes"), "notes\n");
    const hiding = { ...sandbox!, hidden: [home] };
    using files = sandboxed({ workspace, roots: [folder.path], sandbox: hiding });
    const command = `cat '${folder.path}/notes' '${home}/data/token'; ls '${home}' '${home}/workspaces'; echo x > file`;
    const text = await bash(files.context, command);
    expect(text).toMatch(/^notes\n.*No such file/);
    expect(text).not.toMatch(/canary|other/);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("x\n");

    using given = sandboxed({ workspace, roots: [home], sandbox: hiding });
    expect(await bash(given.context, `cat '${home}/data/token'; cat file`)).toMatch(/No such file.*\nx$/);
  });

  test("a link that an agent puts in the place of an allowed folder opens nothing", async () => {
    using files = sandboxed();
    const inner = join(files.context.workspace, "inner");
    symlinkSync(files.outside, inner);
    writeFileSync(join(files.outside, "secret"), "canary");
    const context = { ...files.context, roots: [inner] };
    expect(await bash(context, "cat inner/secret; echo x > inner/file")).not.toContain("canary");
    expect(readdirSync(files.outside)).toEqual(["secret"]);
  });

  test("the whole disk as an allowed folder still leaves programs without network and processes", async () => {
    using files = sandboxed({ roots: ["/"] });
    const text = await bash(
      files.context,
      `ls -d /root; kill -0 ${process.pid}; cat < /dev/tcp/192.0.2.1/80; pwd`,
    );
    expect(text).toMatch(/\/root\n.*No such process\n[^]*unreachable[^]*workspace$/);
  });

  test("what a program needs beside the system is there to be read, and is found by a link to it", async () => {
    using files = sandboxed();
    const [tool, link] = [join(files.outside, "tool"), join(files.outside, "link")];
    writeFileSync(tool, "#!/bin/sh\necho works\n", { mode: 0o755 });
    symlinkSync(tool, link);
    const { workspace: folder } = files.context;
    const command = `${link}; echo x > ${tool}; ls ${files.outside}`;
    const program = { file: "/bin/sh", args: ["-c", command], folder, environment: {}, needs: [link] };
    const { file, args } = await inSandbox(program, files.context, { drainMs: 0 });
    expect(execFileSync(file, args, { cwd: folder, encoding: "utf8" })).toMatch(
      /^works\n.*Read-only file system\nlink\ntool\n$/,
    );
  });

  test("nothing is made on the disk for the sandbox's sake", async () => {
    using folder = temporaryFolder();
    const [workspace, link] = [join(folder.path, "workspace"), join(folder.path, "link")];
    mkdirSync(workspace);
    symlinkSync(workspace, link);
    using files = sandboxed();
    const context = { ...files.context, workspace: link, roots: [folder.path, "/etc"] };
    const before = readFileSync("/etc/passwd", "utf8");
    expect(await bash(context, "pwd; cat /etc/passwd")).toBe(`${link}\n${before.trimEnd()}`);
    expect(readdirSync(folder.path).toSorted()).toEqual(["link", "workspace"]);
    expect(readFileSync("/etc/passwd", "utf8")).toBe(before);
  });

  /** It ignores being told to end, and has left session and group. */
  const stubborn = (mark: string): string =>
    `setsid bash -c 'trap "" TERM HUP INT; echo > started; while :; do sleep 1000; done' ${mark} & wait`;
  const impatient = createBashTool({ ...PROGRAM_LIMITS, graceMs: 200, drainMs: 50 });

  test("when a command is aborted, everything ends that it has started", async () => {
    using files = sandboxed();
    const mark = `cortex-${process.pid}-aborted`;
    const stop = new AbortController();
    const context = { ...files.context, signal: stop.signal };
    const call = callTool(impatient, { command: stubborn(mark) }, context);
    await isThere(join(files.context.workspace, "started"));
    expect(isRunning(mark)).toBe(true);

    stop.abort();
    expect((await call).text).toContain("[Stopped: the call was aborted]");
    await isGone(mark);
  });

  test("at the timeout of a command, everything ends that it has started", async () => {
    using files = sandboxed();
    const mark = `cortex-${process.pid}-late`;
    const command = stubborn(mark);
    // On busy cores it may not even have started by then.
    for (let timeoutMs = 500; !existsSync(join(files.context.workspace, "started")); timeoutMs *= 2) {
      const { text } = await callTool(impatient, { command, timeoutMs }, files.context);
      expect(text).toContain("[Timed out after");
    }
    await isGone(mark);
  });

  test("what a command leaves in the background ends with it, and may finish what it was writing", async () => {
    using files = sandboxed();
    const mark = `cortex-${process.pid}-left`;
    const command = `setsid bash -c 'trap "" TERM HUP; sleep 1000; true' ${mark} & echo done`;
    expect((await callTool(impatient, { command }, files.context)).text).toBe("done");
    await isGone(mark);

    const patient = createBashTool({ ...PROGRAM_LIMITS, drainMs: 30_000 });
    const piped = { command: "echo first > >(cat; sleep 0.1; echo last)" };
    expect((await callTool(patient, piped, files.context)).text).toBe("first\nlast");
  });

  test.skipIf(process.getuid?.() !== 0)("somebody who is not root has the same sandbox", async () => {
    using folder = temporaryFolder();
    execFileSync("chown", ["65534:65534", folder.path]);
    using files = sandboxed({ workspace: folder.path, outputFolder: folder.path });
    const { file, args } = await inSandbox(
      {
        file: "/bin/sh",
        args: ["-c", "id -un; echo x > file; cat /etc/shadow"],
        folder: folder.path,
        environment: {},
      },
      files.context,
      { drainMs: 0 },
    );
    const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", file, ...args];
    const said = execFileSync("sh", ["-c", 'setpriv "$@" || true', "sh", ...asNobody], { encoding: "utf8" });
    expect(said).toMatch(/^agent\ncat: .*No such file/);
    expect(readFileSync(join(folder.path, "file"), "utf8")).toBe("x\n");
  });

  test("a sandbox that cannot be made says why, and nothing is run", async () => {
    using files = sandboxed({ sandbox: { bubblewrap: "/nonexistent/bwrap" } });
    expect(await bash(files.context, "echo x > file")).toContain("/nonexistent/bwrap");
    expect(readdirSync(files.context.workspace)).toEqual([]);
  });
});

async function isThere(path: string): Promise<void> {
  const seen = Promise.withResolvers<void>();
  const watcher = watch(join(path, ".."), () => existsSync(path) && seen.resolve());
  if (!existsSync(path)) await seen.promise;
  watcher.close();
}

/** Whether a process has this among its arguments. */
function isRunning(mark: string): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(mark);
    } catch {
      return false; // It has ended since.
    }
  });
}

/** Who was killed is gone a moment later, and nothing tells us when. */
async function isGone(mark: string): Promise<void> {
  for (let tries = 0; isRunning(mark) && tries < 1000; tries += 1) await after(10);
  expect(isRunning(mark)).toBe(false);
}
