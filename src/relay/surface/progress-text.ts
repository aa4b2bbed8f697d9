/** The progress of a relay in a chat. It names steps only: answers and errors may hold what not everyone there may know. */
import { count } from "../../model/count.ts";
import { countSteps, type RelayRecord, type RelayStep } from "../record/record.ts";
import { stepName } from "../record/record-step.ts";
import { formatUsd, ICONS } from "../record/summary.ts";

/** The last ones; a long relay has more. */
const MAX_STEPS_SHOWN = 15;

export function progressText(record: RelayRecord): string {
  const { id, templateName, status, steps, totalCostUsd } = record;
  const hidden = Math.max(steps.length - MAX_STEPS_SHOWN, 0);
  return [
    `${ICONS[status]} Thread \`${id}\` (${templateName ?? "ad-hoc"}): ${status}`,
    ...(hidden === 0 ? [] : [`- … ${count(hidden, "earlier step")}`]),
    ...steps.slice(hidden).map((step) => `- ${markOf(step)} ${stepName(step)}`),
    "",
    `${count(countSteps(record), "step")} | ${formatUsd(totalCostUsd)}`,
  ].join("\n");
}

function markOf({ status }: RelayStep): string {
  if (status === "running") return ICONS.running;
  return status === "completed" ? ICONS.completed : ICONS.failed;
}
