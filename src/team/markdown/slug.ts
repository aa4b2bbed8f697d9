import { CortexError } from "../../model/errors.ts";

/** A slug names a folder and a file, and is part of session keys. */
export const MAX_SLUG_LENGTH = 64;

/** Billing Dev → billing-dev. Throws `request_invalid` if the slug would be empty or too long. */
export function toSlug(name: string): string {
  const slug = slugify(name);
  if (slug === "")
    throw invalid(name, "yields an empty slug", "Use at least one letter from a to z, or a digit.");
  if (slug.length > MAX_SLUG_LENGTH)
    throw invalid(
      name,
      `yields a slug of ${slug.length} characters`,
      `Use a name with a slug of at most ${MAX_SLUG_LENGTH} characters.`,
    );
  return slug;
}

/** As `toSlug`. Undefined: the slug would be empty or too long. */
export function slugOf(name: string): string | undefined {
  const slug = slugify(name);
  return slug === "" || slug.length > MAX_SLUG_LENGTH ? undefined : slug;
}

function slugify(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/\s+/g, "-")
    .replaceAll(/[^a-z0-9-]/g, "")
    .replaceAll(/-+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

const MAX_SHOWN = 100;

function invalid(name: string, why: string, hint: string): CortexError {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return new CortexError("request_invalid", `The name ${JSON.stringify(shown)} ${why}`, { hint });
}
