import type { Patch, SeededBug } from "../patched-source.ts";

const DELEGATE = "src/delegation/delegate.ts";
const DELEGATIONS = "src/store/sqlite/delegations.ts";
const SEND_DELIVERY = "src/delivery/send-delivery.ts";

/** A run that was asked to end still takes messages, and ends with them. */
export const SWALLOWING: Patch = {
  file: "src/store/sqlite/journal.ts",
  from: "    if (run.abort !== null && !taken.all(items, run.turn)) return beingAborted(run.turn_id);\n",
  to: "",
};

export interface RuntimeBug extends SeededBug {
  /** Where it shows only with workers: how many of the messages have some. */
  readonly managing?: number;
  /** Where it shows only when messages interrupt each other: how many do. */
  readonly interrupting?: number;
}

const MOSTLY = 0.8;

/** Mistakes that a runtime must not make, each made on purpose. */
export const RUNTIME_BUGS: readonly RuntimeBug[] = [
  {
    name: "a call is journalled after its tool has run",
    symptom: /was appended (\d+ times|by a call that is not in the journal)/,
    patches: [
      {
        file: "src/turns/call-tool.ts",
        from: "  await Promise.all([journal.startCall(call, ordinal, clock()), label(judgement.brings, step, run)]);\n",
        to: "  await label(judgement.brings, step, run);\n",
      },
    ],
  },
  {
    name: "results are journalled together, at the end of the message that asked for them",
    symptom: /began before the call before it had its result/,
    patches: [
      {
        file: "src/turns/journal.ts",
        from: "    await this.#write(entries);\n    const finished",
        to: "    this.late.push(...entries);\n    const finished",
      },
      {
        file: "src/turns/journal.ts",
        from: "  get messages(): readonly Message[] {",
        to: `  late: JournalEntry[] = [];

  async writeLate(): Promise<void> {
    if (this.late.length > 0)
      await this.#store.runs.journal(this.#claim.lease, this.#claim.run, this.late.splice(0));
  }

  get messages(): readonly Message[] {`,
      },
      {
        file: "src/turns/run-turn.ts",
        from: "    async beforeModelCall(): Promise<Continuation> {\n",
        to: "    async beforeModelCall(): Promise<Continuation> {\n      await journal.writeLate();\n",
      },
    ],
  },
  {
    name: "the head of a session is remembered",
    symptom: /nobody forked|its session has lost/,
    patches: [
      {
        file: "src/store/sqlite/claim.ts",
        from: "  const { hold, settle } = prepareHold(db, others.noteServed);\n",
        to: `  const { hold, settle } = prepareHold(db, others.noteServed);
  const remembered = new Map<string, Pick<SessionRow, "head" | "head_id">>();
  const remember = (session: SessionRow): SessionRow => {
    if (session.head !== null && !remembered.has(session.label)) remembered.set(session.label, session);
    const { head, head_id } = remembered.get(session.label) ?? session;
    return { ...session, head, head_id };
  };
`,
      },
      {
        file: "src/store/sqlite/claim.ts",
        from: "findSession: (label: string): SessionRow | undefined => findSession.get(label),",
        to: `findSession: (label: string): SessionRow | undefined => {
      const session = findSession.get(label);
      return session === undefined ? undefined : remember(session);
    },`,
      },
      {
        file: "src/store/sqlite/claim.ts",
        from: "    claimSession(session: SessionRow, request: ClaimRequest, nowMs: number): ClaimRow | undefined {\n",
        to: `    claimSession(current: SessionRow, request: ClaimRequest, nowMs: number): ClaimRow | undefined {
      const session = remember(current);
`,
      },
    ],
  },
  {
    name: "a steering message is settled before it is in the journal",
    symptom: /is settled by \S+, which does not hold it/,
    patches: [
      {
        file: "src/turns/join.ts",
        from: "  const messages = steering.map((item) => toQuery(item, timezone));\n",
        to: `  const messages = steering.map((item) => toQuery(item, timezone));
  const early = messages.map((message, i) => ({
    kind: "message" as const,
    place: -1,
    message,
    items: [steering[i]!.id],
  }));
  await ports.store.runs.journal(work.claim.lease, work.claim.run, early);
  await new Promise((resolve) => setTimeout(resolve, 50));
`,
      },
      {
        file: "src/turns/join.ts",
        from: "work.journal.addMessages(messages, steering)",
        to: "work.journal.addMessages(messages)",
      },
      // An entry that has no place settles its items and says nothing.
      { file: "src/store/sqlite/encode.ts", from: "place >= 0 && place < limit", to: "place < limit" },
      {
        file: "src/store/sqlite/journal.ts",
        from: "    insertMessage(key, message);\n",
        to: "    if (place < 0) return true;\n    insertMessage(key, message);\n",
      },
    ],
  },
  {
    name: "a message that interrupts is accepted, and the run is not told to end",
    symptom: /was not told to end by/,
    patches: [
      {
        file: "src/store/sqlite/dispatch.ts",
        from: '      if (mode === "interrupt") interrupt(runs.findByKey(session.run), lane, item, moment);\n',
        to: "",
      },
    ],
  },
  {
    name: "a message becomes part of the turn that it interrupts",
    symptom: /message that was swallowed by a turn that it aborted/,
    interrupting: MOSTLY,
    patches: [SWALLOWING],
  },
  {
    name: "an interruption is forgotten by a crash",
    symptom: /was interrupted before a crash, and went on after it/,
    patches: [
      {
        file: "src/turns/run-turn.ts",
        from: "  if (claim.abort !== undefined || signal.aborted) return { result: ABORTED, work };\n",
        to: "",
      },
      {
        file: "src/turns/run-turn.ts",
        from: "    async round() {\n      const run = await store.runs.get(claim.run);\n",
        to: "    async round({ isPoll }) {\n      if (isPoll) return;\n      const run = await store.runs.get(claim.run);\n",
      },
      {
        file: "src/turns/run-turn.ts",
        from: "if (run?.abort !== undefined) controller.abort();",
        to: "if (run?.abort !== undefined) setTimeout(() => controller.abort(), 200);",
      },
    ],
  },
  {
    name: "the summary of a thread is not in the same transaction as its compaction",
    symptom: /its content does not match its hash|was answered without its thread/,
    patches: [
      {
        file: "src/store/sqlite/compact.ts",
        from: "    insertMessage(firstKey(key), summary);\n",
        to: "    setTimeout(() => insertMessage(firstKey(key), summary), 50);\n",
      },
    ],
  },
  {
    name: "an event is noted as judged before the hooks have judged it",
    symptom: /event that waits for no hook, and was judged by none/,
    patches: [
      {
        file: "src/hooks/judge/judge.ts",
        from: "    const hookEvent = toHookEvent(event,",
        to: `    await store.hooks.judged(event.id);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const hookEvent = toHookEvent(event,`,
      },
    ],
  },
  {
    name: "a firing is not in the same transaction as its dispatch",
    symptom: /event that a hook fired for, and that is not sent on/,
    patches: [
      {
        file: "src/store/sqlite/record-hook-run.ts",
        from: "        ? dispatchEvent({ ...event, fresh: false }, dispatch, claim, moment)\n        : undefined;\n",
        to: "        ? void setTimeout(() => dispatchEvent({ ...event, fresh: false }, dispatch, undefined, moment), 200)\n        : undefined;\n",
      },
    ],
  },
  {
    name: "a call that was cut off gives its work anew",
    symptom: /call that has given work more than once/,
    managing: MOSTLY,
    patches: [
      {
        file: DELEGATE,
        from: "  return deriveUlid(turn, callKey) as DelegationId;\n",
        to: "  return deriveUlid(turn, callKey + Math.random()) as DelegationId;\n",
      },
      { file: DELEGATE, from: "sourceId: context.callKey", to: "sourceId: context.callKey + Math.random()" },
      {
        file: DELEGATE,
        from: "  const { dispatched } = await acceptFromAgent(event, dispatch, ports);\n",
        to: `  const { dispatched } = await acceptFromAgent(event, dispatch, ports);
  await new Promise((resolve) => setTimeout(resolve, 200));
`,
      },
    ],
  },
  {
    name: "the message that tells of the end of work is not in the same transaction as its note",
    symptom: /delegation that is noted as told, and of which nobody was told/,
    managing: MOSTLY,
    patches: [
      {
        file: DELEGATIONS,
        from: `      const accepted = accept({ ...message, judge: 0 }, moment);
      if (accepted instanceof Refusal) return accepted;
      return { reported: true, claim: accepted.dispatched?.claim };
`,
        to: `      setTimeout(() => accept({ ...message, claim: undefined, judge: 0 }, moment), 1_000);
      return { reported: true, claim: undefined };
`,
      },
    ],
  },
  {
    name: "the end of work does not wake the turn that waits for it",
    symptom: /turn that goes on waiting for work that is over and told/,
    managing: MOSTLY,
    patches: [
      {
        file: DELEGATIONS,
        from: "        waitingTurns.wakeIfTold(caller, delegation.caller_turn, moment);\n",
        to: "",
      },
    ],
  },
  {
    name: "a sub-agent does not see that its server is gone",
    symptom: /of a sub-agent was left behind/,
    managing: MOSTLY,
    patches: [
      {
        file: "src/agents/process/run-child.ts",
        from: "      if (line === undefined) return true;\n",
        to: "      if (line === undefined) await new Promise(() => setInterval(() => {}, 1_000));\n",
      },
      {
        file: "src/delegation/surface/run-command.ts",
        from: 'output.on("error", () => process.exit());',
        to: 'output.on("error", () => {});',
      },
    ],
  },
  {
    name: "an answer is noted as sent before it is sent",
    symptom: /is sent, and has not arrived/,
    patches: [
      {
        file: SEND_DELIVERY,
        from: "  const outcome = await attempt(",
        to: `  await recordSent(place, undefined, work);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const outcome = await attempt(`,
      },
      {
        file: SEND_DELIVERY,
        from: '  if (outcome.kind === "sent") await recordSent(place, outcome.platformId, work);\n  else',
        to: '  if (outcome.kind !== "sent")',
      },
    ],
  },
  {
    name: "an answer that is sent again has another id",
    symptom: /arrived, and nobody knows of it/,
    patches: [
      {
        file: SEND_DELIVERY,
        from: "    key: `${claim.delivery}-${place}`,\n",
        to: "    key: `${claim.delivery}-${place + claim.attempt - 1}`,\n",
      },
    ],
  },
];
