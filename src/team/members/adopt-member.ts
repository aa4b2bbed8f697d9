/** Has Cortex run a member: from the next heartbeat on, Cortex works on its tasks. */
import { MANAGED_RUNTIME } from "../files/adoption.ts";
import { memberOf } from "./dispatch-task.ts";
import { checkManagedSlug } from "./register-member.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import type { Team } from "../files/team.ts";

export interface Adoption {
  readonly slug: string;
  readonly notePath: string;
  /** False: Cortex ran it already. */
  readonly changed: boolean;
  /** Gets no ticks until its note says `status: active`. */
  readonly isInactive: boolean;
}

/** Idempotent. Throws `member_unknown`, and `state_conflict` for the name of the owner's own session. */
export async function adoptMember(name: string, team: Team, folder: TeamFolder): Promise<Adoption> {
  const { slug, note, notePath, isInactive } = memberOf(name, team);
  checkManagedSlug(note.name || slug, slug);
  const edit = { kind: "field", name: "runtime", value: MANAGED_RUNTIME } as const;
  const { changed } = await folder.edit(notePath, { file: "note", edit });
  return { slug, notePath, changed, isInactive };
}

export function describeAdoption({ slug, notePath, changed, isInactive }: Adoption): string {
  if (isInactive)
    return `Cortex runs ${slug}, but it is inactive: set \`status: active\` in ${notePath} to bring it back.`;
  return changed
    ? `Cortex works on the tasks of ${slug} from its next heartbeat on.`
    : `Cortex already runs ${slug}.`;
}
