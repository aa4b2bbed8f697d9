/** What the commands about agents and about personas have in common. */
import type { PersonaDetails } from "../insight/describe.ts";
import type { Printer } from "../terminal/print.ts";
import { harmless, table } from "../terminal/text.ts";

/** The rules with where each comes from. All of them must agree. */
export function permissionLines(permissions: PersonaDetails["permissions"], print: Printer): string {
  return table(
    permissions.map(({ field, value, path, origin }) => [
      `  ${field}`,
      harmless(Array.isArray(value) ? value.join(", ") || "none" : JSON.stringify(value)),
      print.style("dim", origin === "default" ? "default" : `${path}, ${origin}`),
    ]),
  );
}
