import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, type TestWorkspace, testWorkspace } from "../../../test/support/tool-context.ts";
import { createSkillTool, type KnownSkill, MAX_SKILL_BYTES, MAX_SKILL_FILES } from "./skill.ts";

/** A skill called pdf, and the folder that it lies in. */
function pdf(
  { context }: TestWorkspace,
  text = "---\nname: pdf\ndescription: x\n---\n\n# Forms\nFill them.\n",
): KnownSkill {
  const folder = join(context.workspace, "skills", "pdf");
  mkdirSync(join(folder, "scripts"), { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), text);
  return { name: "pdf", folder, file: join(folder, "SKILL.md") };
}

test("it gives the instructions without their frontmatter, and the files that come with them", async () => {
  using files = testWorkspace();
  const skill = pdf(files);
  writeFileSync(join(skill.folder, "scripts", "fill.py"), "");
  writeFileSync(join(skill.folder, "FORMS.md"), "");
  const { text } = await callTool(
    createSkillTool(async () => [skill]),
    { name: "pdf" },
    files.context,
  );
  expect(text).toBe(
    `Skill pdf, in ${skill.folder}\n\n# Forms\nFill them.\n\nIts other files:\n${skill.folder}/FORMS.md\n${skill.folder}/scripts/fill.py`,
  );
});

test("a skill may be nothing but its instructions", async () => {
  using files = testWorkspace();
  const { text } = await callTool(
    createSkillTool(async () => [pdf(files)]),
    { name: "pdf" },
    files.context,
  );
  expect(text).toMatch(/Fill them\.\n\nIt has no other files\.$/);
});

test("each agent has its own skills, and one that it does not have is unknown", async () => {
  using files = testWorkspace();
  const skill = pdf(files);
  const tool = createSkillTool(async ({ agent }) => (agent === "main" ? [skill] : []));
  await expect(callTool(tool, { name: "pfd" }, files.context)).rejects.toMatchObject({
    code: "skill_unknown",
    message: 'Unknown skill "pfd"',
    hint: "Your skills: pdf.",
  });
  const context = { ...files.context, agent: "other" as typeof files.context.agent };
  await expect(callTool(tool, { name: "pdf" }, context)).rejects.toMatchObject({
    code: "skill_unknown",
    hint: "You have no skills. Continue without one.",
  });
  await expect(callTool(tool, { name: "../../etc" }, files.context)).rejects.toMatchObject({
    code: "skill_unknown",
  });
});

test("long instructions are cut and kept in a file, and those that are far too long are refused", async () => {
  using files = testWorkspace();
  const tool = createSkillTool(async () => [pdf(files, "x".repeat(60 * 1024))]);
  expect((await callTool(tool, { name: "pdf" }, files.context)).text).toMatch(
    /The full text is in .*turn-1-0\.txt\]$/,
  );
  const longer = createSkillTool(async () => [pdf(files, "x".repeat(MAX_SKILL_BYTES + 1))]);
  await expect(callTool(longer, { name: "pdf" }, files.context)).rejects.toMatchObject({
    code: "skill_invalid",
  });
});

test("of many files only some are named", async () => {
  using files = testWorkspace();
  const skill = pdf(files);
  for (let n = 0; n <= MAX_SKILL_FILES; n++) writeFileSync(join(skill.folder, `${n}.md`), "");
  const { text } = await callTool(
    createSkillTool(async () => [skill]),
    { name: "pdf" },
    files.context,
  );
  expect(text.match(/\d\.md$/gm)).toHaveLength(MAX_SKILL_FILES);
  expect(text).toMatch(/\n\(and more\)$/);
});

test("a skill that was swapped for a link since it was found is not read", async () => {
  using files = testWorkspace();
  const skill = pdf(files);
  writeFileSync(join(files.outside, "SKILL.md"), "the secret");
  const tool = createSkillTool(async () => [skill]);

  renameSync(skill.file, `${skill.file}.old`);
  symlinkSync(join(files.outside, "SKILL.md"), skill.file);
  await expect(callTool(tool, { name: "pdf" }, files.context)).rejects.toMatchObject({ code: "tool_failed" });

  renameSync(skill.folder, `${skill.folder}.old`);
  symlinkSync(files.outside, skill.folder);
  await expect(callTool(tool, { name: "pdf" }, files.context)).rejects.toMatchObject({
    code: "path_forbidden",
  });
});
