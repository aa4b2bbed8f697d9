import { expect, test } from "vitest";

import { controlFile } from "./control-file.ts";

const FOLDERS = {
  open: ["/home/ann/.claude/work", "/home/ann/shared"],
  peoples: ["/home/ann/plugins", "/home/ann/.claude/work/skills"],
};
const kindOf = (path: string) => controlFile(`/home/ann/.claude/work/${path}`, FOLDERS);

test.each([
  "AGENTS.md",
  "agents.MD",
  "a/b/CLAUDE.md",
  "SOUL.md",
  "MEMORY.md.",
  "USER.md ",
  "x/SKILL.md",
  "AG\u200BENTS.md",
  "\uFF21GENTS.md",
  "IDENTITY.md::$DATA",
  "AGENTS.override.md",
  ".github/copilot-instructions.md",
  ".windsurfrules",
  ".clinerules",
])("%j tells agents what to do", (path) => expect(kindOf(path)).toBe("identity"));

test.each([
  "package.json",
  "app/Makefile",
  "justfile",
  ".npmrc",
  ".envrc",
  ".bashrc",
  ".profile",
  ".mcp.json",
  "Dockerfile",
  "Dockerfile.dev",
  "all.code-workspace",
  ".pre-commit-config.yaml",
  "docker-compose.override.yml",
  "compose.prod.yaml",
  ".justfile",
  ".lefthook.yml",
  "lefthook-local.yml",
  ".bash_aliases",
  ".pnpmfile.mjs",
  ".gitlab-ci.yml",
  "Jenkinsfile",
  "pyproject.toml",
  "Taskfile.dist.yml",
])("%s names programs", (path) => expect(kindOf(path)).toBe("runner"));

test.each([
  ".github/workflows/ci.yml",
  "a/.github/actions/x/action.yml",
  ".husky/pre-commit",
  ".vscode/tasks.json",
  ".claude/settings.json",
  ".gemini/settings.json",
  ".zed/tasks.json",
  ".clinerules/a.md",
  ".config/fish/config.fish",
  "skills/tea/notes.txt",
])("all of the folder of %s belongs to people", (path) => expect(kindOf(path)).toBe("folder"));

test.each([
  "notes.md",
  "src/agents.ts",
  "package.json.md",
  "skills.md",
  ".github/CODEOWNERS",
  "memory/today.md",
  "compose.md",
  "docs/taskfile.md",
  ".config/theme.json",
  "constructor/x.txt",
  "tools/skills/x.txt",
])("%s is a file like any other, wherever the workspace is", (path) => expect(kindOf(path)).toBeUndefined());

test("an identity file that is also named as people's is still one that agents follow", () => {
  const file = "/home/ann/.claude/work/MEMORY.md";
  expect(controlFile(file, { ...FOLDERS, peoples: [file] })).toBe("identity");
});

test("plugins and other folders of people count wherever they are", () => {
  expect(controlFile("/home/ann/plugins/a/x.txt", FOLDERS)).toBe("folder");
  expect(controlFile("/home/ann/shared/AGENTS.md", FOLDERS)).toBe("identity");
});
