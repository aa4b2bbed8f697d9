/** A team directory should be a git repository: what housekeeping removes stays in its history. */
import { type GitPlace, GitRefused, readUserSettings, runGit } from "../../programs/git.ts";

export type GitStart =
  | { readonly kind: "made" }
  /** It is one already, or lies within one. */
  | { readonly kind: "there" }
  /** The team works without. */
  | { readonly kind: "none"; readonly why: string };

export async function initGit(place: GitPlace): Promise<GitStart> {
  try {
    const { passedOn: settings } = await readUserSettings(place);
    if (await isInRepository({ ...place, settings })) return { kind: "there" };
    await runGit({ ...place, settings }, ["init", "--quiet", "--template="]);
    return { kind: "made" };
  } catch (error) {
    if (error instanceof GitRefused) return { kind: "none", why: error.message };
    throw error;
  }
}

async function isInRepository(place: GitPlace): Promise<boolean> {
  try {
    await runGit(place, ["rev-parse", "--git-dir"]);
    return true;
  } catch (error) {
    if (error instanceof GitRefused && /not a git repository/.test(error.message)) return false;
    throw error;
  }
}
