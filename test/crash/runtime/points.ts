import { before, type Point, STORE_POINTS } from "../patched-source.ts";

const CALL_TOOL = "src/turns/call-tool.ts";
const PROCESS_AGENT = "src/agents/process/process-agent.ts";
const JUDGE = "src/hooks/judge/judge.ts";
const SEND_DELIVERY = "src/delivery/send-delivery.ts";

/** Where an event, a turn or a delivery stands between two steps of which only one is done, and the points of the store. */
export const RUNTIME_POINTS: readonly Point[] = [
  before(
    "before a message is accepted",
    "src/intake/messages.ts",
    "  const accepted = await intake.slots.withSlot(",
  ),
  before(
    "before an event is accepted",
    "src/intake/accept-event.ts",
    "  const { fresh } = await intake.store.events.accept(event,",
  ),
  before(
    "between an event and its judging",
    JUDGE,
    "    const { hooks, broken, paused } = await this.#select(event, asked, nowMs);\n",
  ),
  before(
    "between a judgement and its note",
    JUDGE,
    "      const firing = this.#fire(event, run, answer.verdict, others);\n",
  ),
  before(
    "between the note of a judgement and that all hooks have judged",
    JUDGE,
    "    await store.hooks.judged(event.id, [",
  ),
  before("before messages are journalled", "src/turns/journal.ts", "    const before = this.unwritten;\n"),
  before("before a call", "src/agents/loop.ts", "    const outcome = await request.callTool("),
  before("between the intent and the tool", CALL_TOOL, "  const outcome = await runTool("),
  before("between the tool and its result", CALL_TOOL, '  if (outcome === "aborted") return'),
  {
    name: "between an interruption and the end of its turn",
    patch: {
      file: "src/turns/run-turn.ts",
      from: "if (run?.abort !== undefined) controller.abort();",
      to: 'if (run?.abort !== undefined) { globalThis.reach("between an interruption and the end of its turn"); controller.abort(); }',
    },
  },
  before(
    "before a turn is committed",
    "src/turns/settle.ts",
    "  const { next } = await ports.store.turns.commit(",
  ),
  before("before a thread is compacted", "src/turns/compact.ts", "    await store.turns.compact({"),
  before(
    "inside an operation that compacts a thread",
    "src/store/sqlite/compact.ts",
    "    moveHead.run(key, held.key);\n",
  ),
  before(
    "inside an operation that gives work away",
    "src/store/sqlite/hand-over.ts",
    "      changes.delegation(key, state);\n",
  ),
  before(
    "between giving work away and the note that a call waits for it",
    CALL_TOOL,
    "  await run.work.journal.addWaiting(call);\n",
  ),
  before(
    "between giving work away and the suspension of the turn",
    "src/turns/settle.ts",
    "  await store.runs.suspend(claim.lease,",
  ),
  before(
    "between starting a child and its work",
    PROCESS_AGENT,
    "    return (await child.begin(init, question.signal))",
  ),
  before(
    "while a child is at work",
    PROCESS_AGENT,
    "      const line = await this.#next(child, question.signal);\n",
  ),
  before(
    "between the end of work and telling of it",
    "src/delegation/reporter.ts",
    "    const message = delegation.waits ?",
  ),
  before(
    "inside an operation that tells of the end of work",
    "src/store/sqlite/delegations.ts",
    "      shareTrust(session, caller, moment.nowMs);\n",
  ),
  before(
    "between telling a turn of the end of work and its going on",
    "src/delegation/open.ts",
    "      const delegation = id === undefined ? undefined : await store.delegations.get(id);\n",
  ),
  before("before an answer is sent", SEND_DELIVERY, "  const outcome = await attempt("),
  before(
    "between the sending and its note",
    SEND_DELIVERY,
    '  if (outcome.kind === "sent") await recordSent(',
  ),
  ...STORE_POINTS,
];
