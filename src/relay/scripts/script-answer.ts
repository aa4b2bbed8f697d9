/** The answer of a relay script: one JSON value, or nothing. */
import { isObject } from "../templates/loose.ts";

export type ScriptAnswer =
  /** The relay continues. */
  | { readonly kind: "nothing" }
  /** Runs the prompt with a new agent. */
  | { readonly kind: "insert"; readonly prompt: string; readonly profile?: string }
  /** Sends the prompt to an agent of the relay, in its session. */
  | { readonly kind: "target"; readonly agent: string; readonly prompt: string; readonly profile?: string }
  | { readonly kind: "failed"; readonly error: string };

/** `slots` are the possible targets. `targetAgent` takes precedence over `insertAgent`. */
export function parseScriptAnswer(output: string, slots: readonly string[]): ScriptAnswer {
  if (output.trim() === "") return { kind: "nothing" };
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    return failed(`Its output is not a single JSON value: ${excerpt(output.trim())}`);
  }
  if (answer === null) return { kind: "nothing" };
  if (!isObject(answer)) return failed(`Expected a JSON object, got ${excerpt(output.trim())}`);
  return readAnswer(answer, slots);
}

function readAnswer(answer: Readonly<Record<string, unknown>>, slots: readonly string[]): ScriptAnswer {
  // Programs often write null for absent fields.
  const given = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
  const { insertAgent = false, targetAgent, prompt, profile, directive } = given;
  if (typeof insertAgent !== "boolean")
    return failed(`insertAgent: expected true or false, got ${excerpt(insertAgent)}`);
  if (targetAgent !== undefined && typeof targetAgent !== "string")
    return failed(`targetAgent: expected the name of an agent, got ${excerpt(targetAgent)}`);
  if (targetAgent === undefined && !insertAgent) return { kind: "nothing" };
  for (const [name, value] of Object.entries({ profile, directive })) {
    if (value !== undefined && typeof value !== "string")
      return failed(`${name}: expected a string, got ${excerpt(value)}`);
  }
  if (typeof prompt !== "string" || prompt.trim() === "")
    return failed("It requested an agent without a prompt");
  const asked = {
    prompt: typeof directive === "string" && directive !== "" ? `${directive}\n\n${prompt}` : prompt,
    ...(typeof profile === "string" ? { profile } : {}),
  };
  if (targetAgent === undefined) return { kind: "insert", ...asked };
  if (slots.includes(targetAgent)) return { kind: "target", agent: targetAgent, ...asked };
  return failed(`targetAgent: expected one of ${slots.join(", ")}, got ${excerpt(targetAgent)}`);
}

/** Enough to recognise the value. */
const MAX_SHOWN = 200;

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

function failed(error: string): ScriptAnswer {
  return { kind: "failed", error };
}
