/** What a relay script may answer: one JSON value, or nothing. */

export type ScriptAnswer =
  /** The relay goes on. */
  | { readonly kind: "nothing" }
  /** An agent of its own is to run the prompt. */
  | { readonly kind: "insert"; readonly prompt: string; readonly profile?: string }
  /** An agent of the relay is to be sent the prompt, in its session. */
  | { readonly kind: "target"; readonly agent: string; readonly prompt: string; readonly profile?: string }
  | { readonly kind: "failed"; readonly error: string };

/** `slots` are the agents that may be a target. A target wins over an agent of its own. */
export function parseScriptAnswer(output: string, slots: readonly string[]): ScriptAnswer {
  if (output.trim() === "") return { kind: "nothing" };
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    return failed(`It wrote something other than one JSON value: ${excerpt(output.trim())}`);
  }
  if (answer === null) return { kind: "nothing" };
  if (typeof answer !== "object" || Array.isArray(answer))
    return failed(`It wrote ${excerpt(output.trim())}, not an object`);
  return readAnswer(answer as Readonly<Record<string, unknown>>, slots);
}

function readAnswer(answer: Readonly<Record<string, unknown>>, slots: readonly string[]): ScriptAnswer {
  // Programs write null for what they leave out.
  const given = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
  const { insertAgent = false, targetAgent, prompt, profile, directive } = given;
  if (typeof insertAgent !== "boolean")
    return failed(`insertAgent is ${excerpt(insertAgent)}, not true or false`);
  if (targetAgent !== undefined && typeof targetAgent !== "string")
    return failed(`targetAgent is ${excerpt(targetAgent)}, not the name of an agent`);
  if (targetAgent === undefined && !insertAgent) return { kind: "nothing" };
  for (const [name, value] of Object.entries({ profile, directive })) {
    if (value !== undefined && typeof value !== "string")
      return failed(`${name} is ${excerpt(value)}, not a text`);
  }
  if (typeof prompt !== "string" || prompt.trim() === "")
    return failed("It asked for an agent and gave no prompt");
  const asked = {
    prompt: typeof directive === "string" && directive !== "" ? `${directive}\n\n${prompt}` : prompt,
    ...(typeof profile === "string" ? { profile } : {}),
  };
  if (targetAgent === undefined) return { kind: "insert", ...asked };
  if (slots.includes(targetAgent)) return { kind: "target", agent: targetAgent, ...asked };
  return failed(
    `targetAgent is ${excerpt(targetAgent)}, and the agents of this relay are ${slots.join(", ")}`,
  );
}

/** Enough to recognise it by. */
const MAX_SHOWN = 200;

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

function failed(error: string): ScriptAnswer {
  return { kind: "failed", error };
}
