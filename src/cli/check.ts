import { checkAgents, type Finding } from "../personas/check-agents.ts";
import { readConfigured } from "../config/configured.ts";
import type { Invocation } from "../feature/command.ts";
import { count, harmless } from "../terminal/text.ts";

/** Looks at all agents and personas. False: there are errors. */
export async function check({ home, environment, print, toolNames }: Invocation): Promise<void | false> {
  const { config, variable } = await readConfigured({ home, environment });
  const findings = await checkAgents({ home, config, variable, toolNames });
  const errors = findings.filter(({ level }) => level === "error").length;
  print.data({ findings, errors, warnings: findings.length - errors }, () =>
    [
      ...findings.map((finding) => describe(finding, print.style)),
      findings.length === 0
        ? `Nothing is wrong with ${count(Object.keys(config.agents).length, "agent")} and ${count(Object.keys(config.personas).length, "persona")}.`
        : `${count(errors, "error")}, ${count(findings.length - errors, "warning")}.`,
    ].join("\n"),
  );
  if (errors > 0) return false;
}

function describe({ level, path, message, hint }: Finding, style: Invocation["print"]["style"]): string {
  const word = style(level === "error" ? "red" : "yellow", level);
  return `${word} ${harmless(`${path}: ${message}\n  ${hint}`)}`;
}
