import { z } from "zod";

import { CortexError } from "../../model/errors.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import type { Label } from "../../model/trust.ts";
import { defineFileTool, labelled, FILE_TIMEOUT_MS } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { capOutput } from "./output.ts";
import { readAtMost } from "./read-bytes.ts";
import { walk } from "./walk.ts";

/** Longer instructions are not read. */
export const MAX_SKILL_BYTES = 1024 * 1024;
/** How many of its files are listed. */
export const MAX_SKILL_FILES = 200;

/** A folder with instructions. Paths are absolute and without links. */
export interface KnownSkill {
  readonly name: string;
  /** The file with the instructions. */
  readonly file: string;
  readonly folder: string;
}

/** Returns the instructions of one of the agent's skills, and a list of its files. */
export function createSkillTool(
  skillsOf: (asking: Pick<ToolContext, "agent" | "session">) => Promise<readonly KnownSkill[]>,
): Tool {
  return defineFileTool({
    name: "Skill",
    description:
      "Returns the instructions of one of your skills and a list of its files, which you can open with Read. Call it " +
      "before you start a task that the skill is for.",
    parameters: z.strictObject({ name: z.string().min(1).max(64).describe("The name of the skill") }),
    writes: false,
    repeatable: true,
    timeoutMs: FILE_TIMEOUT_MS,
    trust: { untrusted: true, private: true },
    errorTrust: {},
    labels: true,
    async run({ name }, context) {
      const skills = await skillsOf(context);
      const skill = skills.find((each) => each.name === name.normalize("NFKC"));
      if (skill === undefined) throw skillUnknown(name, skills);
      return labelled(
        () => context.labels?.ofFolders([skill.folder]).then(asInstruction(context)),
        async () => {
          const body = withoutFrontmatter(await readSkill(skill, context));
          const text = [`Skill ${name}, in ${skill.folder}`, body, await describeFiles(skill, context)];
          return { text: await capOutput(text.join("\n\n"), context) };
        },
      );
    },
  });
}

/** The owner's instructions are for everyone whom the agent serves. Files of the skill have labels of their own. */
function asInstruction({ confinedTo }: ToolContext): (label: Label) => Label {
  return (label) =>
    confinedTo === undefined
      ? label
      : { ...label, private: label.private.filter((reader) => reader !== OWNER_PRINCIPAL) };
}

/** The path had no links when the skill was found; `openFile` fails if it has any now. */
async function readSkill({ file }: KnownSkill, { signal }: ToolContext): Promise<string> {
  await using handle = await openFile({ path: file, shown: file });
  const bytes = await readAtMost(handle, MAX_SKILL_BYTES, signal);
  if (bytes === undefined) throw tooLong(file);
  return new TextDecoder().decode(bytes);
}

function withoutFrontmatter(text: string): string {
  return text.replace(/^\uFEFF?---[ \t]*\r?\n[^]*?(?<=\n)---[ \t]*(?:\r?\n|$)/, "").trim();
}

async function describeFiles({ file, folder }: KnownSkill, { signal }: ToolContext): Promise<string> {
  const options = { signal, left: 10 * MAX_SKILL_FILES };
  const files: string[] = [];
  let isCut = false;
  for await (const { place, kind } of walk({ path: folder, shown: folder }, options)) {
    if (kind !== "file" || place.path === file) continue;
    isCut = files.length === MAX_SKILL_FILES;
    if (isCut) break;
    files.push(place.path);
  }
  if (files.length === 0) return "It has no other files.";
  return ["Its other files:", ...files, ...(isCut || options.left === 0 ? ["(and more)"] : [])].join("\n");
}

function skillUnknown(name: string, skills: readonly KnownSkill[]): CortexError {
  const known = skills.map((each) => each.name).join(", ");
  return new CortexError("skill_unknown", `Unknown skill ${JSON.stringify(name)}`, {
    hint: known === "" ? "You have no skills. Continue without one." : `Your skills: ${known}.`,
  });
}

function tooLong(file: string): CortexError {
  return new CortexError("skill_invalid", `${file} has more than ${MAX_SKILL_BYTES / 1024 / 1024} MiB`, {
    hint: "Continue without the skill, and tell the user.",
  });
}
