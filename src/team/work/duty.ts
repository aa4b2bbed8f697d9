import type { MemberFiles } from "../members/member-files.ts";
import type { Assignee } from "./order-turn.ts";
import { coordinatorDuty } from "./prompts.ts";
import type { Workplace } from "./workplace.ts";

/** The coordinator's job, and whose words it quotes. */
export async function dutyOf(
  member: MemberFiles,
  { team: { root }, labels }: Pick<Workplace, "team" | "labels">,
): Promise<Required<Pick<Assignee, "duty" | "dutyLabel">>> {
  return { duty: coordinatorDuty(member, root), dutyLabel: await labels.ofFiles([member.notePath]) };
}
