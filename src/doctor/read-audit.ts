/** Reads what `npm audit --json` says: what a registry knows of the dependencies. It is text of others. */
import { z } from "zod";

const SEVERITIES = ["critical", "high", "moderate", "low", "info"] as const;

export interface Advisory {
  readonly package: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly title: string;
  /** The affected versions. */
  readonly range: string;
}

export type Audit =
  | { readonly kind: "checked"; readonly advisories: readonly Advisory[]; readonly left: number }
  /** No registry answered, or npm could not ask. */
  | { readonly kind: "unanswered"; readonly why: string };

export const MAX_ADVISORIES = 50;
const MAX_TEXT_LENGTH = 300;

const text = z.string().transform((value) => value.slice(0, MAX_TEXT_LENGTH).toWellFormed());
const Via = z.object({ name: text, title: text, severity: z.enum(SEVERITIES), range: text.default("") });
const Report = z.object({
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), Via])) })),
});
const Failure = z.object({
  message: text.optional(),
  error: z.object({ summary: text.optional() }).optional(),
});

/** Worst first. A package that only uses an affected one is not listed by itself. */
export function readAudit(output: string): Audit {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch {
    return { kind: "unanswered", why: "npm gave no report" };
  }
  const report = Report.safeParse(json);
  if (!report.success) {
    const { message, error } = Failure.safeParse(json).data ?? {};
    return { kind: "unanswered", why: message || error?.summary || "npm gave no report" };
  }
  const found = new Map<string, Advisory>();
  for (const { via } of Object.values(report.data.vulnerabilities))
    for (const each of via) {
      if (typeof each === "string") continue; // the name of the affected package, which has its own entry
      const { name, title, severity, range } = each;
      found.set(JSON.stringify([name, title, range]), { package: name, severity, title, range });
    }
  const advisories = [...found.values()].toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
  const left = Math.max(advisories.length - MAX_ADVISORIES, 0);
  return { kind: "checked", advisories: advisories.slice(0, MAX_ADVISORIES), left };
}
