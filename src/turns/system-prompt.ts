/**
 * Who the agent is and how it works. Nothing in it changes from turn to turn, so that providers can cache it: times,
 * senders and places are in the envelope of each message.
 *
 * It is made of parts with names, so that `cortex context` can say what each takes. What does not fit the budget is
 * left out, and it is said what that was.
 */
import type { ToolDescription } from "../agents/agent.ts";
import { CHARACTERS_PER_TOKEN } from "../agents/estimate-tokens.ts";
import { type IdentityFile, readIdentityFiles } from "../personas/identity-files.ts";
import type { Tool } from "../model/tool.ts";
import type { Setup } from "../personas/lookup.ts";
import type { Skill } from "../personas/skills.ts";
import { roleRules } from "./role-rules.ts";

/** What the system prompt may take, in tokens: of any window, and of the one that the model has. */
export const MAX_SYSTEM_TOKENS = 32_000;
export const SYSTEM_SHARE = 0.25;
/** What the list of skills may take of that. */
export const SKILLS_SHARE = 0.25;
/** Less than this of a file says nothing, and the file is left out. In characters. */
const MIN_FILE_LENGTH = 200;

export interface SystemSources {
  /** Its files are read, and it need not exist. */
  readonly workspace: string;
  readonly tools: readonly (ToolDescription & Pick<Tool, "guidance">)[];
  readonly skills: readonly Skill[];
  /** What it is told of its job. */
  readonly duty?: string | undefined;
  /** Of the model, in tokens. Undefined: nobody knows. */
  readonly window: number | undefined;
}

interface SystemPart {
  /** `AGENTS.md`, `identity`, `rules`, `job`, `tools`, `skills`, or as the guidance of a tool is called. */
  readonly name: string;
  /** Empty where nothing of it is used. */
  readonly text: string;
  /** What was cut or left out, as a sentence without a full stop. */
  readonly note?: string;
}

export interface SystemPrompt {
  readonly text: string;
  readonly parts: readonly SystemPart[];
}

export const BETWEEN_PARTS = "\n\n";

export async function assembleSystem(setup: Setup, sources: SystemSources): Promise<SystemPrompt> {
  const { agent, persona } = setup;
  const { workspace, tools, window } = sources;
  const budget = CHARACTERS_PER_TOKEN * Math.min(MAX_SYSTEM_TOKENS, (window ?? Infinity) * SYSTEM_SHARE);
  const names = new Set(tools.map(({ name }) => name));
  const isOwn = agent.systemPrompt !== undefined;
  const about: readonly SystemPart[] = isOwn
    ? [{ name: "systemPrompt", text: agent.systemPrompt }]
    : [
        { name: "identity", text: describePersona(persona) },
        { name: "rules", text: roleRules(agent.role, names) },
        ...tools.flatMap(({ guidance }) =>
          guidance === undefined ? [] : { name: guidance.name, text: guidance.text() },
        ),
      ];
  const notes: SystemPart = { name: "tools", text: toolNotes(tools, workspace) };
  const skills = names.has("Skill") ? skillList(sources.skills, budget * SKILLS_SHARE) : undefined;
  const duty = sources.duty === undefined ? [] : [{ name: "job", text: sources.duty }];
  const fixed = [...about, ...duty, notes, ...(skills === undefined ? [] : [skills])];
  const room = budget - fixed.reduce((sum, { text }) => sum + text.length + BETWEEN_PARTS.length, 0);
  const files = isOwn ? [] : fitFiles(await readIdentityFiles(workspace), room);
  const parts = [...files, ...fixed];
  const text = parts.map((part) => part.text).filter((each) => each !== "");
  return { text: text.join(BETWEEN_PARTS), parts };
}

/** In their order, as far as there is room. */
function fitFiles(files: readonly IdentityFile[], room: number): SystemPart[] {
  let left = room;
  return files.map(({ name, text, problem }): SystemPart => {
    const note = problem === undefined ? {} : { note: problem };
    if (text === "") return { name, text, ...note };
    const heading = `# ${name}\n`;
    const available = left - heading.length - BETWEEN_PARTS.length;
    if (available < Math.min(text.length, MIN_FILE_LENGTH)) {
      return { name, text: "", note: `${name} is left out: the system prompt is full` };
    }
    const fitting =
      text.length <= available ? text : `${text.slice(0, available - CUT.length).toWellFormed()}${CUT}`;
    left = available - fitting.length;
    if (fitting === text) return { name, text: heading + text, ...note };
    return {
      name,
      text: heading + fitting,
      note: `${name} is cut to ${fitting.length - CUT.length} characters: the system prompt is full`,
    };
  });
}

const CUT = "\n(cut here)";

function describePersona({ identity: { name, soul, emoji } }: Setup["persona"]): string {
  const self = `You are ${name}${emoji === undefined ? "" : ` ${emoji}`}, an agent that runs on Cortex.`;
  return soul === undefined ? self : `${self}\n${soul}`;
}

function toolNotes(tools: readonly ToolDescription[], workspace: string): string {
  if (tools.length === 0) return "You have no tools.";
  const names = tools.map(({ name }) => name).join(", ");
  return `Your tools: ${names}. Your workspace is ${workspace}; relative paths start there.`;
}

const SKILLS_HEAD =
  "Skills are instructions for certain kinds of work. When one fits what you are asked for, read it with the tool Skill before you begin:";

/** As many as there is room for, in the order of their names. */
function skillList(skills: readonly Skill[], room: number): SystemPart | undefined {
  if (skills.length === 0) return undefined;
  const lines: string[] = [];
  let left = room - SKILLS_HEAD.length;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${description}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const missing = skills.slice(lines.length).map(({ name }) => name);
  return {
    name: "skills",
    text: lines.length === 0 ? "" : [SKILLS_HEAD, ...lines].join("\n"),
    ...(missing.length === 0 ? {} : { note: `${missing.join(", ")} left out: the list of skills is full` }),
  };
}
