/**
 * Shells: templates with parameters. `{param}` stands for an agent and `{param.entryStage}` for the stage that it
 * begins with. They are looked for where agents and stages are named and nowhere else, because a pattern or a command
 * may have braces of its own.
 */
import { present } from "../../model/present.ts";
import { suggest } from "../../model/nearest.ts";
import { formatPath, type Path, quote } from "../../config/problem.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import type { Loose } from "./loose.ts";
import { bindingSchema, type BindingEntry, type ShellEntry } from "./schema.ts";

/** The agents that may be bound, and the stage that each begins with: empty where it has none. */
export type BoundAgents = ReadonlyMap<string, string>;

type LooseShell = Loose<ShellEntry>;

const PLACEHOLDER = /\{([^{}]*)\}/g;
const PROPERTY = ".entryStage";

export function checkShell(shell: LooseShell): Finding[] {
  const params = paramsOf(shell);
  return [
    ...checkParams(shell),
    ...placesOf(shell).flatMap(({ path, text }) => checkPlace(text, path, params)),
  ];
}

/** What is wrong with a binding that names this shell. */
export function checkBinding(binding: BindingEntry, shell: LooseShell, agents: BoundAgents): Finding[] {
  const params = paramsOf(shell);
  const missing = params
    .filter((param) => !Object.hasOwn(binding, param))
    .map((param) => wrong([param], "is missing", `The shell ${quote(binding.shell)} needs an agent for it.`));
  const given = Object.entries(binding).filter(([key]) => !OWN_KEYS.has(key));
  const others = given.flatMap(([key, agent]): Finding[] => {
    if (!params.includes(key)) {
      const message = `is not a parameter of the shell ${quote(binding.shell)}`;
      const hint = params.length === 0 ? "It has none." : suggest(key, params);
      return [{ ...doubtful([key], message, hint), at: "key" }];
    }
    if (typeof agent !== "string" || agents.has(agent)) return [];
    return [wrong([key], `no agent is called ${quote(agent)}`, suggest(agent, [...agents.keys()]))];
  });
  return [...missing, ...others];
}

/** The template that a binding makes of a shell, both of which are right. */
export function expandShell(shell: ShellEntry, binding: BindingEntry, agents: BoundAgents): unknown {
  const { params: _, entryStage: stage = "", ...template } = structuredClone(shell);
  const put = (text: string): string =>
    text.replaceAll(PLACEHOLDER, (__, name: string) => {
      const agent = binding[name.replace(PROPERTY, "")] as string;
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

/** What is wrong with the template that a binding makes is told at the binding. */
export function atBinding(finding: Finding, shell: string): Finding {
  const where = formatPath(finding.path);
  const message = `in the shell ${quote(shell)}${where === "" ? "" : `, ${where}`}: ${finding.message}`;
  return { ...finding, path: ["shell"], at: "value", message };
}

const OWN_KEYS: ReadonlySet<string> = new Set(Object.keys(bindingSchema.shape));

function checkParams({ params = [] }: LooseShell): Finding[] {
  return params.flatMap((param, index) => {
    if (param === undefined) return [];
    const path = ["params", index];
    if (OWN_KEYS.has(param)) {
      return [wrong(path, `${quote(param)} is a field of bindings`, "Give the parameter another name.")];
    }
    return params.indexOf(param) < index
      ? [wrong(path, `${quote(param)} is there twice`, "Keep one of them.")]
      : [];
  });
}

function checkPlace(text: string, path: Path, params: readonly string[]): Finding[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name]) => name!).flatMap((name) => {
    const [param, ...properties] = name.split(".");
    const hint = params.length === 0 ? "Declare it in params." : suggest(param!, params);
    if (!params.includes(param!)) return [wrong(path, `no parameter is called ${quote(param)}`, hint)];
    if (properties.length === 0 || name === param + PROPERTY) return [];
    const message = `{${name}} asks for something that agents do not have`;
    return [wrong(path, message, `Write {${param}} or {${param}${PROPERTY}}.`)];
  });
}

/** Where placeholders count. */
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
