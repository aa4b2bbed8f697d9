import { before, type Point, STORE_POINTS } from "../patched-source.ts";

const CALL_TOOL = "src/turns/call-tool.ts";

/** Where a turn stands between two steps of which only one is done, and the points of the store. */
export const RUNTIME_POINTS: readonly Point[] = [
  before(
    "before a message is accepted",
    "src/runtime/messages.ts",
    "  const accepted = await parts.broker.withSlot(",
  ),
  before("before messages are journalled", "src/turns/journal.ts", "    const before = this.unwritten;\n"),
  before("before a call", "src/agents/loop.ts", "    const outcome = await request.callTool("),
  before("between the intent and the tool", CALL_TOOL, "  const outcome = await attempt("),
  before("between the tool and its result", CALL_TOOL, '  if (outcome === "aborted") return'),
  before(
    "before a turn is committed",
    "src/turns/settle.ts",
    "  const { next } = await parts.store.turns.commit(",
  ),
  ...STORE_POINTS,
];
