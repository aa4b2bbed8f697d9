import assert from "node:assert/strict";

import { present } from "../model/present.ts";
import { addConfigured, readConfigured } from "../config/configured.ts";
import { describePersona, type PersonaDetails } from "../insight/describe.ts";
import { personaView } from "../feature/views.ts";
import { type Invocation, listOf, text } from "../feature/command.ts";
import type { Printer } from "../terminal/print.ts";
import { firstLine, harmless, table } from "../terminal/text.ts";

const MAX_SOUL_LENGTH = 100;

export async function listPersonas({ home, environment, print }: Invocation): Promise<void> {
  const { config } = await readConfigured({ home, environment });
  const items = Object.entries(config.personas).map(([id, persona]) => personaView(id, persona));
  print.data({ items, next: null }, () =>
    table(
      items.map(({ id, name, permissions: { tools, ask } }) => [
        id,
        name,
        `tools: ${tools.allow.join(", ") || "none"}`,
        tools.deny.length === 0 ? "" : `denied: ${tools.deny.join(", ")}`,
        ask.length === 0 ? "" : `needs approval: ${ask.join(", ")}`,
      ]),
    ),
  );
}

export async function showPersona({ home, environment, args, print }: Invocation): Promise<void> {
  const { config } = await readConfigured({ home, environment });
  const [persona = ""] = args;
  const details = describePersona(persona, { config });
  const { id, name, emoji, soul, mainSession, agents, permissions } = details;
  const facts = table([
    ["persona", id],
    ["name", emoji === null ? name : `${name} ${emoji}`],
    ["soul", soul === null ? "none" : firstLine(soul, MAX_SOUL_LENGTH)],
    ["agents", agents.join(", ") || "none"],
    ["main session", mainSession ?? "none: no agent uses this persona"],
  ]);
  print.data(details, () =>
    [harmless(facts), "", "Permissions:", permissionLines(permissions, print)].join("\n"),
  );
}

export async function createPersona(given: Invocation): Promise<void> {
  const { home, environment, args, print } = given;
  const [id = ""] = args;
  const identity = present({
    name: text(given, "name"),
    soul: text(given, "soul"),
    emoji: text(given, "emoji"),
  });
  const deny = listOf(given, "deny");
  const permissions = present({
    tools: deny === undefined ? undefined : { deny },
    ask: listOf(given, "ask"),
  });
  const value = {
    ...(Object.keys(identity).length === 0 ? {} : { identity }),
    ...(Object.keys(permissions).length === 0 ? {} : { permissions }),
  };
  const { config } = await addConfigured({ home, environment }, { section: "personas", name: id, value });
  const persona = Object.entries(config.personas).find(([name]) => name === id)?.[1];
  assert(persona !== undefined, "the persona was added");
  print.data(personaView(id, persona), () =>
    [
      `Added persona ${id}, named ${harmless(persona.identity.name)}.`,
      print.advice(`Run \`cortex agents create <id> --persona ${id}\` to add an agent with it.`),
    ].join("\n"),
  );
}

/** The rules and where each is set. A call needs all of them to allow it. */
export function permissionLines(permissions: PersonaDetails["permissions"], print: Printer): string {
  return table(
    permissions.map(({ field, value, path, origin }) => [
      `  ${field}`,
      harmless(Array.isArray(value) ? value.join(", ") || "none" : JSON.stringify(value)),
      print.style("dim", origin === "default" ? "default" : `${path}, ${origin}`),
    ]),
  );
}
