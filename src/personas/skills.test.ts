import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_FOLDERS_SEARCHED, MAX_PLUGIN_FILE_LENGTH, MAX_PLUGINS } from "./plugins.ts";
import { MAX_SKILLS_IN_FOLDER, readSkills, type Skills } from "./skills.ts";

interface Places extends Disposable {
  readonly home: string;
  readonly workspace: string;
  write(path: string, text: string): void;
  skill(folder: string, name: string, fields?: string): void;
  read(options?: { pluginDirs?: readonly string[]; patterns?: readonly string[] }): Promise<Skills>;
}

function places(): Places {
  const folder = temporaryFolder();
  const base = realpathSync(folder.path);
  const [home, workspace] = [join(base, "home"), join(base, "workspace")];
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  return {
    home,
    workspace,
    write,
    skill: (place, name, fields = "") =>
      write(
        join(place, name, "SKILL.md"),
        `---\nname: ${name}\ndescription: From ${place}.\n${fields}---\nDo it.`,
      ),
    read: ({ pluginDirs = [], patterns = ["*"] } = {}) =>
      readSkills({
        workspace,
        home,
        config: { agents: {}, personas: {}, channels: { webhooks: {}, files: {}, paired: [] } },
        pluginDirs: pluginDirs.map((dir) => join(base, dir)),
        patterns,
      }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const named = ({ skills }: Skills): string[] =>
  skills.map(({ name, description }) => `${name}: ${description}`);

test("skills come from the workspace, the home and plugins, in the order of their names", async () => {
  using all = places();
  all.skill("workspace/skills", "review");
  all.skill("home/skills", "deploy");
  all.write("home/plugins/tools/.claude-plugin/plugin.json", '{"name": "tools"}');
  all.skill("home/plugins/tools/skills", "zip");
  all.write("home/plugins/other/.claude-plugin/plugin.json", '{"name": "other"}');
  all.skill("home/plugins/other/skills", "not-for-this-agent");
  all.write("mine/.claude-plugin/plugin.json", '{"name": "mine", "version": "1"}');
  all.skill("mine/skills", "audit");
  all.write("workspace/skills/notes/README.md", "no skill");

  const read = await all.read({ pluginDirs: ["mine", "home/plugins/tools"] });
  expect(named(read)).toEqual([
    "audit: From mine/skills.",
    "deploy: From home/skills.",
    "review: From workspace/skills.",
    "zip: From home/plugins/tools/skills.",
  ]);
  expect(read.problems).toEqual([]);
  expect(read.skills.map(({ source }) => source)).toEqual(["plugin", "home", "workspace", "plugin"]);
  expect(read.skills[2]).toMatchObject({
    folder: join(all.workspace, "skills", "review"),
    file: join(all.workspace, "skills", "review", "SKILL.md"),
  });
});

test("an agent with no folders has no skills", async () => {
  using all = places();
  expect(await all.read()).toEqual({ skills: [], problems: [] });
});

test("only those are given that the agent's patterns name", async () => {
  using all = places();
  for (const name of ["git-log", "git-blame", "pdf"]) all.skill("home/skills", name);
  expect((await all.read({ patterns: ["git-*"] })).skills.map(({ name }) => name)).toEqual([
    "git-blame",
    "git-log",
  ]);
  expect((await all.read({ patterns: [] })).skills).toEqual([]);
});

test("of two with the same name the workspace's is used, then the home's, and the other is told of", async () => {
  using all = places();
  all.skill("home/skills", "pdf");
  all.skill("workspace/skills", "pdf");
  const read = await all.read();
  expect(named(read)).toEqual(["pdf: From workspace/skills."]);
  expect(read.problems).toEqual([
    {
      path: join(all.home, "skills", "pdf", "SKILL.md"),
      problem: `it has the same name as ${join(all.workspace, "skills", "pdf")}`,
      isLeftOut: true,
    },
  ]);
});

test("a bad skill is left out and told of, and the others are there", async () => {
  using all = places();
  all.skill("workspace/skills", "good");
  all.skill("workspace/skills", "odd", "model: opus\n");
  all.write("workspace/skills/bad/SKILL.md", "---\nname: other\n---\n");
  mkdirSync(join(all.workspace, "skills", "folder", "SKILL.md"), { recursive: true });

  const { skills, problems } = await all.read();
  expect(skills.map(({ name }) => name)).toEqual(["good", "odd"]);
  expect(problems).toEqual([
    {
      path: join(all.workspace, "skills/bad/SKILL.md"),
      problem: expect.stringContaining('"other"'),
      isLeftOut: true,
    },
    {
      path: join(all.workspace, "skills/bad/SKILL.md"),
      problem: expect.stringContaining("its description is missing or not a string"),
      isLeftOut: true,
    },
    { path: join(all.workspace, "skills/folder/SKILL.md"), problem: "it is not a file", isLeftOut: true },
    {
      path: join(all.workspace, "skills/odd/SKILL.md"),
      problem: expect.stringContaining("model"),
      isLeftOut: false,
    },
  ]);
});

test("links out of the workspace or a plugin are not followed, and the owner's links in the home are", async () => {
  using all = places();
  all.skill("elsewhere", "pdf");
  all.skill("elsewhere", "secret");
  mkdirSync(join(all.workspace, "skills"), { recursive: true });
  symlinkSync(join(all.home, "..", "elsewhere", "secret"), join(all.workspace, "skills", "secret"));
  mkdirSync(join(all.home, "skills"), { recursive: true });
  symlinkSync(join(all.home, "..", "elsewhere", "pdf"), join(all.home, "skills", "pdf"));
  all.write("mine/.claude-plugin/plugin.json", '{"name": "mine"}');
  symlinkSync(join(all.home, "..", "elsewhere"), join(all.home, "..", "mine", "skills"));

  const { skills, problems } = await all.read({ pluginDirs: ["mine"] });
  expect(skills.map(({ name, folder }) => [name, folder.endsWith("elsewhere/pdf")])).toEqual([["pdf", true]]);
  expect(problems.map(({ problem }) => problem)).toEqual([
    expect.stringContaining("mine: skills is a symbolic link out of the folder"),
    expect.stringContaining("it is a symbolic link out of"),
  ]);
});

test("a plugin that cannot be read, or that loads nothing, is told of", async () => {
  using all = places();
  all.write("notes/README.md", "nothing");
  all.write("empty/.claude-plugin/plugin.json", '{"name": "empty"}');
  all.write("broken/.claude-plugin/plugin.json", "{");
  all.write("nameless/.claude-plugin/plugin.json", "null");
  const long = JSON.stringify({ name: "wordy", description: "x".repeat(MAX_PLUGIN_FILE_LENGTH) });
  all.write("wordy/.claude-plugin/plugin.json", long);
  all.write("guard/.claude-plugin/plugin.json", '{"name": "guard"}');
  all.write("guard/hooks/hooks.json", "{}");
  all.write("a-file", "");
  const pluginDirs = ["nowhere", "a-file", "notes", "empty", "broken", "nameless", "wordy", "guard"];
  const { problems } = await all.read({ pluginDirs });
  expect(
    problems.map(({ path, problem, isLeftOut }) => [path.split("/").at(-1), problem, isLeftOut]),
  ).toEqual([
    ["broken", "its .claude-plugin/plugin.json is not valid JSON with a name", true],
    ["nameless", "its .claude-plugin/plugin.json is not valid JSON with a name", true],
    ["wordy", "its .claude-plugin/plugin.json is not valid JSON with a name", true],
    ["nowhere", "the folder does not exist", false],
    ["a-file", "it is not a folder", false],
    ["notes", expect.stringMatching(/^it is empty: .*no SKILL\.md up to 3 folders deep$/), false],
    ["empty", "it is empty: no skills and no hooks/hooks.json", false],
  ]);
});

test("a folder without a manifest loads the skills in it, up to three folders deep", async () => {
  using all = places();
  all.write("one/SKILL.md", "---\nname: one\ndescription: Alone.\n---\n");
  all.skill("bag", "pdf");
  all.skill("bag/writing", "letter");
  all.skill("bag/writing/style", "tone");
  all.skill("bag/writing/style/deep", "too-deep");
  all.skill("bag/pdf/examples", "part-of-pdf");
  const { skills, problems } = await all.read({ pluginDirs: ["one", "bag"] });
  expect(skills.map(({ name, source }) => `${name} ${source}`)).toEqual([
    "letter plugin",
    "one plugin",
    "pdf plugin",
    "tone plugin",
  ]);
  expect(problems).toEqual([]);
});

test("a change counts from the next time", async () => {
  using all = places();
  all.skill("home/skills", "pdf");
  await all.read();
  all.write("home/skills/pdf/new.md", "---\nname: pdf\ndescription: Other.\n---\n");
  renameSync(join(all.home, "skills/pdf/new.md"), join(all.home, "skills/pdf/SKILL.md"));
  expect(named(await all.read())).toEqual(["pdf: Other."]);
});

test("how many folders are looked at has a bound", async () => {
  using all = places();
  for (let n = 0; n < MAX_SKILLS_IN_FOLDER; n++)
    mkdirSync(join(all.home, "skills", `s${n}`), { recursive: true });
  expect((await all.read()).problems).toEqual([]);
  mkdirSync(join(all.home, "skills", "one-more"));
  expect((await all.read()).problems).toEqual([
    {
      path: join(all.home, "skills"),
      problem: expect.stringContaining("more than 500 folders"),
      isLeftOut: true,
    },
  ]);
});

test("how many plugins are looked at has a bound, and so has the search in a folder", async () => {
  using all = places();
  const pluginDirs = Array.from({ length: MAX_PLUGINS + 1 }, (_, n) => `p${n}`);
  expect((await all.read({ pluginDirs })).problems[0]).toMatchObject({
    problem: "more than 200 plugins; the rest is ignored",
  });
  for (let n = 0; n < MAX_FOLDERS_SEARCHED; n++)
    mkdirSync(join(all.home, "many", `a${String(n).padStart(4, "0")}`), { recursive: true });
  all.skill("home/many", "zebra");
  expect((await all.read({ pluginDirs: ["home/many"] })).skills).toEqual([]);
});
