import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import {
  ADAPTER_RUNTIMES,
  type AdapterFile,
  type AdapterRuntime,
  removeAdapters,
  toRuntime,
  writeAdapter,
} from "./adapter.ts";
import { MAX_ADAPTED_BYTES } from "./adapter-files.ts";
import type { AdapterMember } from "./adapter-text.ts";

const rhythm = { heartbeatMinutes: 20, dailyBriefing: "09:00", dailyReview: undefined };

interface Project extends Disposable {
  readonly path: string;
  write(files: Readonly<Record<string, string>>): void;
  /** Everything in it, by path. */
  files(): Record<string, string>;
  adapt(runtime: AdapterRuntime, member?: Partial<AdapterMember>): Promise<AdapterFile[]>;
}

function project(files: Readonly<Record<string, string>> = {}): Project {
  const { path, [Symbol.dispose]: dispose } = temporaryFolder();
  const result: Project = {
    path,
    write: (more) => {
      for (const [name, text] of Object.entries(more)) {
        mkdirSync(dirname(join(path, name)), { recursive: true });
        writeFileSync(join(path, name), text);
      }
    },
    files: () =>
      Object.fromEntries(
        readdirSync(path, { recursive: true, encoding: "utf8" })
          .filter((name) => statSync(join(path, name)).isFile())
          .toSorted()
          .map((name) => [name, readFileSync(join(path, name), "utf8")]),
      ),
    adapt: async (runtime, member = {}) =>
      await writeAdapter({
        runtime,
        rhythm,
        member: {
          slug: "billing-dev",
          name: "Billing Dev",
          project: path,
          teamRoot: "/home/ada/our team",
          isCoordinator: false,
          ...member,
        },
      }),
    [Symbol.dispose]: dispose,
  };
  result.write(files);
  return result;
}

const remove = (path: string, slug = "billing-dev"): Promise<AdapterFile[]> =>
  removeAdapters({ project: path, slug });

test.each([
  [
    "claude-code",
    [".claude/hooks/cortex-precheck.sh", ".claude/settings.json", ".cortex.md", "CLAUDE.local.md"],
  ],
  ["cursor", [".cursorrules"]],
  ["codex", ["AGENTS.md"]],
  ["gemini", ["GEMINI.md"]],
  ["opencode", ["AGENTS.md"]],
  ["generic", [".cortex.md"]],
] as const)("%s finds its instructions where it looks for them", async (runtime, expected) => {
  using there = project();
  await there.adapt(runtime);
  expect(Object.keys(there.files())).toEqual(expected);
});

test.each(ADAPTER_RUNTIMES)(
  "what is written for %s a second time is the same, and none of it stays",
  async (runtime) => {
    const before = {
      ".claude/settings.json": '{\n  "hooks": {"Stop": []},\n  "model": "opus"\n}',
      ".cortex.md": "",
      ".cursorrules": "no line end",
      "AGENTS.md": "# Agents\r\n\r\nBe kind.\r\n",
      "CLAUDE.local.md": "# Local\n",
      "GEMINI.md": "\uFEFF# Gemini\n\n",
      "src/main.ts": "",
    };
    using there = project(before);
    await there.adapt(runtime);
    const once = there.files();
    expect(once).not.toEqual(before);
    const again = await there.adapt(runtime);
    expect(again.map(({ action }) => action)).toEqual(again.map(() => "kept"));
    expect(there.files()).toEqual(once);

    await remove(there.path);
    expect(there.files()).toEqual(before);
    expect(await remove(there.path)).toEqual([]);
  },
);

test("of a project that had nothing, nothing is left", async () => {
  using there = project();
  for (const runtime of ADAPTER_RUNTIMES) await there.adapt(runtime);
  await remove(there.path);
  expect(readdirSync(there.path)).toEqual([]);
});

test("the text says who the agent is, where its files are and how they are changed", async () => {
  using there = project();
  await there.adapt("codex");
  const text = there.files()["AGENTS.md"]!;
  for (const part of [
    "You are **Billing Dev**, a member",
    "/home/ada/our team/agents/billing-dev/billing-dev.md",
    "/home/ada/our team/agents/billing-dev/tasks.md",
    `Your project: ${there.path}`,
    "set -o noclobber",
    ".tasks.md.lock",
    "while true; do codex exec 'Cortex tick: read /home/ada/our team/agents/billing-dev/tasks.md",
    "sleep 1200",
    "Add no tasks",
    "**External:** <file>",
  ]) {
    expect(text).toContain(part);
  }
});

test("the coordinator is told to dispatch, and is never left alone", async () => {
  using there = project();
  await there.adapt("claude-code", { slug: "chief-of-staff", name: "Chief of Staff", isCoordinator: true });
  const files = there.files();
  expect(Object.keys(files)).toEqual([".cortex.md", "CLAUDE.local.md"]);
  const text = files[".cortex.md"]!;
  expect(text).toContain("the coordinator of a team");
  expect(text).toContain("Cortex custom:");
  expect(text).toContain("older than 40 minutes");
  expect(text).toContain("Daily briefing, 09:00");
  expect(text).toContain("Review, when asked");
  expect(text).not.toContain("take()");
});

test("what a name holds cannot end the section", async () => {
  using there = project();
  await there.adapt("generic", { name: "A\n<!-- cortex:end -->\nB" });
  await there.adapt("generic");
  await remove(there.path);
  expect(there.files()).toEqual({});
});

test("a second member in the same folder is refused, and the first one stays", async () => {
  using there = project();
  await there.adapt("claude-code");
  const before = there.files();
  await expect(there.adapt("generic", { slug: "tester" })).rejects.toMatchObject({
    code: "state_conflict",
    message: `${join(there.path, ".cortex.md")} already contains instructions for billing-dev`,
  });
  await remove(there.path, "tester");
  expect(there.files()).toEqual(before);
});

test("what the plugin of Claude Code has written is left to it", async () => {
  const theirs = {
    ".claude/hooks/cortex-precheck.sh": "#!/bin/bash\n# Cortex idle suppression pre-check\n",
    "CLAUDE.local.md": "## Cortex\nOn session start, run /join Billing Dev.\n",
  };
  using there = project(theirs);
  await there.adapt("claude-code");
  const { ".cortex.md": ours, ...rest } = there.files();
  expect(ours).toContain("Billing Dev");
  expect(rest).toEqual(theirs);
  await remove(there.path);
  expect(there.files()).toEqual(theirs);
});

test("settings that are not JSON are named, and nothing is written", async () => {
  using there = project({ ".claude/settings.json": "{ broken" });
  await expect(there.adapt("claude-code")).rejects.toThrow(join(there.path, ".claude/settings.json"));
  expect(Object.keys(there.files())).toEqual([".claude/settings.json"]);
});

test("a section without its end is named with its line", async () => {
  using there = project({ "GEMINI.md": "a\n<!-- cortex:begin -->\nb\n" });
  await expect(there.adapt("gemini")).rejects.toThrow("GEMINI.md:2: mismatched");
  await expect(remove(there.path)).rejects.toThrow("GEMINI.md:2");
});

test("a link within the project stays one; one that leads out is refused", async () => {
  using there = project({ "CLAUDE.md": "# Shared\n" });
  using elsewhere = project({ "AGENTS.md": "# Not yours\n" });
  symlinkSync("CLAUDE.md", join(there.path, "AGENTS.md"));
  await there.adapt("codex");
  expect(readFileSync(join(there.path, "CLAUDE.md"), "utf8")).toContain("# Shared\n\n<!-- cortex:begin -->");

  symlinkSync(join(elsewhere.path, "AGENTS.md"), join(there.path, "GEMINI.md"));
  await expect(there.adapt("gemini")).rejects.toMatchObject({ code: "path_forbidden" });
  expect(elsewhere.files()).toEqual({ "AGENTS.md": "# Not yours\n" });
});

test("a file that is too large, or no text, is refused as it is", async () => {
  using there = project({ ".cursorrules": "x".repeat(MAX_ADAPTED_BYTES + 1) });
  writeFileSync(join(there.path, "GEMINI.md"), Buffer.from([0xff, 0xfe, 0x00]));
  await expect(there.adapt("cursor")).rejects.toMatchObject({ code: "team_unreadable" });
  await expect(there.adapt("gemini")).rejects.toMatchObject({ code: "team_unreadable" });
});

test("the mode of a file stays", async () => {
  using there = project({ "AGENTS.md": "" });
  const path = join(there.path, "AGENTS.md");
  const { mode } = statSync(path);
  await there.adapt("codex");
  expect(statSync(path).mode).toBe(mode);
  await there.adapt("claude-code");
  expect(statSync(join(there.path, ".claude/hooks/cortex-precheck.sh")).mode & 0o100).toBe(0o100);
});

test("a runtime that is not known is an error that lists those that are", () => {
  expect(toRuntime("gemini")).toBe("gemini");
  expect(() => toRuntime("emacs")).toThrow('No adapter for runtime "emacs"');
});

const hasJq = spawnSync("/bin/sh", ["-c", "command -v jq"]).status === 0;

test.runIf(hasJq).each([
  ["Cortex tick: go on", "**Status:** ready\n", 0],
  ["Cortex tick: go on", "**Status:** in-progress \r\n", 0],
  ["Cortex tick: go on", "**Status:** ready <!-- at last -->\n", 0],
  ["Cortex tick: go on", "**Status:** ready-later\n**Status:** done\n", 2],
  ["Cortex tick: go on", "", 2],
  ["Cortex tick: go on", undefined, 2],
  ["Cortex custom: look", "", 0],
  ["hello", "", 0],
])("the hook answers the prompt %j on tasks %j with %j", async (prompt, tasks, code) => {
  using there = project();
  using team = project(tasks === undefined ? {} : { "agents/billing-dev/tasks.md": tasks });
  await there.adapt("claude-code", { teamRoot: team.path });
  expect(precheck(there.path, prompt)).toMatchObject(
    code === 0
      ? { status: 0, stderr: "" }
      : { status: 2, stderr: '{"decision":"block","reason":"No active tasks"}\n' },
  );
});

test("without jq the hook lets every prompt pass", async () => {
  using there = project();
  await there.adapt("claude-code");
  mkdirSync(join(there.path, "bin"));
  expect(precheck(there.path, "Cortex tick: go on", join(there.path, "bin")).status).toBe(0);
});

function precheck(
  path: string,
  prompt: string,
  searched = process.env["PATH"],
): { status: number | null; stderr: string } {
  const script = join(path, ".claude/hooks/cortex-precheck.sh");
  expect(existsSync(script)).toBe(true);
  const { status, stderr } = spawnSync("/bin/sh", [script], {
    input: JSON.stringify({ prompt }),
    encoding: "utf8",
    env: { PATH: searched },
  });
  return { status, stderr };
}
