import * as fc from "fast-check";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp, type Setup } from "./lookup.ts";
import { allowsTool } from "./permissions.ts";

const { config } = await loadFiles({});
const { agent, persona, id } = lookUp(config, "main" as AgentId, "atlas" as PersonaId);

interface Lists {
  readonly agent?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

function setup({ agent: tools = ["*"], allow = ["*"], deny = [] }: Lists): Setup {
  return {
    id,
    agent: { ...agent, tools },
    persona: { ...persona, permissions: { ...persona.permissions, tools: { allow, deny } } },
  };
}

test.each<[Lists, boolean]>([
  [{}, true],
  [{ agent: [] }, false],
  [{ allow: [] }, false],
  [{ agent: ["Read"] }, true],
  [{ agent: ["Write"] }, false],
  [{ allow: ["R*", "Write"] }, true],
  [{ allow: ["*d"] }, true],
  [{ allow: ["R*d"] }, true],
  [{ allow: ["Re*ad"] }, true],
  [{ allow: ["Rea*ead"] }, false],
  [{ allow: ["*e*a*"] }, true],
  [{ allow: ["*a*e*"] }, false],
  [{ allow: ["read"] }, false],
  [{ allow: ["R.ad"] }, false],
  [{ deny: ["Read"] }, false],
  [{ deny: ["*"], allow: ["Read"] }, false],
  [{ deny: ["mcp__*"] }, true],
])("with %o, whether Read is allowed is %s", (lists, allowed) => {
  expect(allowsTool(setup(lists), "Read")).toBe(allowed);
});

const word = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 6 });
const pattern = fc.string({ unit: fc.constantFrom("a", "b", "_", "*"), maxLength: 6 });

test("a pattern without a star is the name itself", () => {
  fc.assert(
    fc.property(word, word, (allow, name) => {
      expect(allowsTool(setup({ allow: [allow] }), name)).toBe(allow === name);
    }),
  );
});

test("a star stands for any characters", () => {
  fc.assert(
    fc.property(pattern, word, (allow, name) => {
      const same = new RegExp(`^${allow.replaceAll("*", ".*")}$`).test(name);
      expect(allowsTool(setup({ allow: [allow] }), name)).toBe(same);
    }),
    { numRuns: 1_000 },
  );
});

test("what is denied is not allowed by anything", () => {
  fc.assert(
    fc.property(fc.array(pattern), fc.array(pattern), fc.array(pattern), word, (tools, allow, deny, name) => {
      const isDenied = allowsTool(setup({ allow: deny }), name);
      expect(isDenied && allowsTool(setup({ agent: tools, allow, deny }), name)).toBe(false);
    }),
  );
});
