/**
 * Shells: templates with parameters. `{param}` stands for an agent and `{param.entryStage}` for its entry stage. They are
 * replaced only where agents and stages are named, because a pattern or a command may contain braces.
 */
import { present } from "../../model/present.ts";
import { suggest } from "../../model/nearest.ts";
import { formatPath, type Path, quote } from "../../config/problem.ts";
import { type EntryFinding, errorAt, warningAt } from "./finding.ts";
import type { Loose } from "./loose.ts";
import { bindingSchema, type BindingEntry, type ShellEntry } from "./schema.ts";

/** The agents that can be bound, with their entry stages. Empty: the agent has no stages. */
export type BoundAgents = ReadonlyMap<string, string>;

type LooseShell = Loose<ShellEntry>;

const PLACEHOLDER = /\{([^{}]*)\}/g;
const PROPERTY = ".entryStage";

export function checkShell(shell: LooseShell): EntryFinding[] {
  const params = paramsOf(shell);
  return [
    ...checkParams(shell),
    ...placesOf(shell).flatMap(({ path, text }) => checkPlace(text, path, params)),
  ];
}

/** Checks a binding against the shell it names. */
export function checkBinding(
  binding: Readonly<Record<string, unknown>>,
  shell: LooseShell,
  agents: BoundAgents,
): EntryFinding[] {
  const params = paramsOf(shell);
  const name = quote(binding["shell"]);
  const missing = params
    .filter((param) => !Object.hasOwn(binding, param))
    .map((param) => errorAt([param], "missing", `Name an agent for this parameter of the shell ${name}.`));
  const given = Object.entries(binding).filter(([key]) => !OWN_KEYS.has(key));
  const others = given.flatMap(([key, agent]): EntryFinding[] => {
    if (!params.includes(key)) {
      const hint = params.length === 0 ? "It has none." : suggest(key, params);
      return [{ ...warningAt([key], `is not a parameter of the shell ${name}`, hint), at: "key" }];
    }
    if (typeof agent !== "string" || agents.has(agent)) return [];
    return [errorAt([key], `unknown agent ${quote(agent)}`, suggest(agent, [...agents.keys()]))];
  });
  return [...missing, ...others];
}

/** The template that a valid binding makes from a valid shell. */
export function expandShell(shell: ShellEntry, binding: BindingEntry, agents: BoundAgents): unknown {
  const { params: _, entryStage: stage = "", ...template } = structuredClone(shell);
  const put = (text: string): string =>
    text.replaceAll(PLACEHOLDER, (__, name: string) => {
      const agent = String(binding[name.replace(PROPERTY, "")]);
      return name.endsWith(PROPERTY) ? (agents.get(agent) ?? "") : agent;
    });
  const { description, maxTotalSteps, maxTotalCostUsd } = binding;
  const entryStage = put(stage);
  return {
    ...template,
    ...(entryStage === "" ? {} : { entryStage }),
    ...present({ description, maxTotalSteps, maxTotalCostUsd }),
    agents: template.agents.map((agent) =>
      typeof agent === "string" ? put(agent) : { ...agent, ref: put(agent.ref) },
    ),
    entryAgent: put(template.entryAgent),
    transitions: template.transitions.map(({ from, to, condition }) => ({
      from: typeof from === "string" ? put(from) : from.map(put),
      to: typeof to === "string" ? put(to) : to.map(put),
      condition,
    })),
  };
}

/** Reports a mistake in the expanded template at the binding. */
export function atBinding(finding: EntryFinding, shell: string): EntryFinding {
  const where = formatPath(finding.path);
  const message = `in the shell ${quote(shell)}${where === "" ? "" : `, ${where}`}: ${finding.message}`;
  return { ...finding, path: ["shell"], at: "value", message };
}

const OWN_KEYS: ReadonlySet<string> = new Set(Object.keys(bindingSchema.shape));

function checkParams({ params = [] }: LooseShell): EntryFinding[] {
  return params.flatMap((param, index) => {
    if (param === undefined) return [];
    const path = ["params", index];
    if (OWN_KEYS.has(param)) {
      return [errorAt(path, `${quote(param)} is a reserved name`, "Rename the parameter.")];
    }
    return params.indexOf(param) < index
      ? [errorAt(path, `duplicate ${quote(param)}`, "Remove one of them.")]
      : [];
  });
}

function checkPlace(text: string, path: Path, params: readonly string[]): EntryFinding[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = ""]) => name).flatMap((name) => {
    const [param = "", ...properties] = name.split(".");
    const hint = params.length === 0 ? "Declare it in params." : suggest(param, params);
    if (!params.includes(param)) return [errorAt(path, `unknown parameter ${quote(param)}`, hint)];
    if (properties.length === 0 || name === param + PROPERTY) return [];
    return [errorAt(path, `unknown property in {${name}}`, `Write {${param}} or {${param}${PROPERTY}}.`)];
  });
}

/** The texts in which placeholders are replaced. */
function placesOf(shell: LooseShell): { path: Path; text: string }[] {
  const places: { path: Path; text: string | undefined }[] = [
    { path: ["entryAgent"], text: shell.entryAgent },
    { path: ["entryStage"], text: shell.entryStage },
  ];
  for (const [index, agent] of (shell.agents ?? []).entries()) {
    if (typeof agent === "string") places.push({ path: ["agents", index], text: agent });
    else places.push({ path: ["agents", index, "ref"], text: agent?.ref });
  }
  for (const [index, transition] of (shell.transitions ?? []).entries()) {
    for (const side of ["from", "to"] as const) {
      const ends = transition?.[side];
      if (typeof ends === "string") places.push({ path: ["transitions", index, side], text: ends });
      else
        for (const [at, text] of (ends ?? []).entries())
          places.push({ path: ["transitions", index, side, at], text });
    }
  }
  return places.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }]));
}

function paramsOf({ params = [] }: LooseShell): string[] {
  return params.filter((param) => param !== undefined);
}
