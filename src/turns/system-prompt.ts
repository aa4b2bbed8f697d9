import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { ToolDescription } from "../agents/agent.ts";
import type { Setup } from "../personas/lookup.ts";

/** Files of the workspace that tell an agent who it is and how to work, in this order. */
const WORKSPACE_FILES = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"];

/** What is read of each of them, in characters. */
export const MAX_WORKSPACE_FILE = 20_000;

const ROLE_RULES = {
  manager:
    "You talk to people. Answer the person who wrote, in their language. Do what you can with your tools before you ask.",
  worker: "You work on one task that was given to you. Do it, and answer with the result and nothing else.",
} as const;

/**
 * Who the agent is and how it works. Nothing in it changes from turn to turn, so that providers can cache it:
 * times, senders and places are in the envelope of each message.
 */
export async function systemPrompt(
  { agent, persona }: Setup,
  workspace: string,
  tools: readonly ToolDescription[],
): Promise<string> {
  const parts =
    agent.systemPrompt === undefined
      ? [identity(persona), ROLE_RULES[agent.role], MESSAGE_RULES, ...(await workspaceFiles(workspace))]
      : [agent.systemPrompt];
  return [...parts, toolNotes(tools, workspace)].filter((part) => part !== "").join("\n\n");
}

const MESSAGE_RULES =
  "Each message begins with one line in brackets that says when and where it was written and by whom; it is not part of the message. " +
  "Messages that arrive while you work are given to you between your steps: they come from the same conversation and count from then on.";

function identity({ identity: { name, soul, emoji } }: Setup["persona"]): string {
  const self = `You are ${name}${emoji === undefined ? "" : ` ${emoji}`}, an agent that runs on Cortex.`;
  return soul === undefined ? self : `${self}\n${soul}`;
}

function toolNotes(tools: readonly ToolDescription[], workspace: string): string {
  if (tools.length === 0) return "You have no tools.";
  const names = tools.map(({ name }) => name).join(", ");
  return `Your tools: ${names}. Your workspace is ${workspace}; relative paths start there.`;
}

async function workspaceFiles(workspace: string): Promise<string[]> {
  const texts = await Promise.all(WORKSPACE_FILES.map((name) => readIfThere(join(workspace, name))));
  return texts.flatMap((text, i) => (text === undefined ? [] : [`# ${WORKSPACE_FILES[i]!}\n${text}`]));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, "utf8")).trim();
    if (text === "") return undefined;
    return text.length <= MAX_WORKSPACE_FILE
      ? text
      : `${text.slice(0, MAX_WORKSPACE_FILE).toWellFormed()}\n(cut here)`;
  } catch {
    return undefined; // not there, or not to be read: the agent works without it
  }
}
