/** What the tools of a team need of the rest of Cortex. */
import { causeOf } from "../../delegation/caller.ts";
import type { Ports } from "../../feature/ports.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  splitEventId,
  TEAM_ADAPTER,
} from "../../model/event.ts";
import type { ToolContext } from "../../model/tool.ts";
import type { QueueItem } from "../../store/store.ts";
import { isNotice } from "../work/order-notice.ts";
import type { TeamToolParts } from "./tools.ts";
import { isByOthers } from "../../turns/untrusted.ts";

/** What other agents say is nobody's instruction, whoever it was said for. */
const BY_AGENTS: ReadonlySet<string> = new Set([
  ANSWER_ADAPTER,
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
]);

export function teamToolParts({ apis, store, settings, onChainEnded }: Ports): TeamToolParts {
  const { team } = apis;
  const itemsOf = ({ turn }: ToolContext): Promise<QueueItem[]> => store.queue.itemsOf(turn);
  return {
    status: () => team.status(),
    async dispatch(wish, context) {
      const items = await itemsOf(context);
      return team.dispatch(wish, await causeOf({ context, items }, { settings, onChainEnded }));
    },
    adopt: (agent) => team.adopt(agent),
    register: (member) => team.register(member),
    briefing: () => team.briefing(),
    review: () => team.review(),
    housekeeping: () => team.housekeeping(),
    async isByPerson(context) {
      const items = await itemsOf(context);
      if (isByOthers(items) || items.some((item) => BY_AGENTS.has(adapterOf(item)))) return false;
      return items.some(({ event }) => !isNotice(event)); // that a task is flagged asks for nothing
    },
    isOnTask: async (context) =>
      (await itemsOf(context)).some((item) => adapterOf(item) === TEAM_ADAPTER && !isNotice(item.event)),
  };
}

function adapterOf({ event }: QueueItem): string {
  return splitEventId(event.id).adapter;
}
