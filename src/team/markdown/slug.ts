import { CortexError } from "../../model/errors.ts";

/** A slug is the name of a folder and of a file, and part of session keys. */
export const MAX_SLUG_LENGTH = 64;

/** Billing Dev → billing-dev. Throws `request_invalid` where nothing, or too much, is left. */
export function toSlug(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/\s+/g, "-")
    .replaceAll(/[^a-z0-9-]/g, "")
    .replaceAll(/-+/g, "-")
    .replaceAll(/^-|-$/g, "");
  if (slug === "") throw invalid(name, "leaves no slug", "Use at least one letter a to z or digit.");
  if (slug.length > MAX_SLUG_LENGTH)
    throw invalid(name, `makes a slug of ${slug.length} characters`, `At most ${MAX_SLUG_LENGTH} are taken.`);
  return slug;
}

const MAX_SHOWN = 100;

function invalid(name: string, why: string, hint: string): CortexError {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return new CortexError("request_invalid", `The name ${JSON.stringify(shown)} ${why}`, { hint });
}
