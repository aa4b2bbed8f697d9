/** Conversations that are longer than their model takes. The model here counts as real ones do. */
import { databasePath } from "../../src/config/home.ts";
import type { TurnId } from "../../src/model/ids.ts";
import { MAIN_SESSION } from "../../src/model/session-key.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Claim, Store } from "../../src/store/store.ts";
import { type HomeFiles, openTestCortex, writeHome } from "./home.ts";
import { type ModelRequest, type Reply, startModelServer } from "./model-server.ts";
import { dispatch, event, message, toSession, turnFor } from "./sample.ts";
import { memoryParent, temporaryFolder } from "./temporary.ts";

const NEVER = new AbortController().signal;

/** A model that takes so many tokens, and refuses more in the words of a real provider. */
export async function startCountingServer(
  window: number,
  answer: (request: ModelRequest) => Reply = () => ({ text: "Yes." }),
  beforeSummary?: () => Promise<void>,
) {
  const server = await startModelServer({
    strict: true,
    answer(request) {
      const input = size(request);
      if (input > window) {
        const tooLong = `This model's maximum context length is ${window} tokens. However, you requested ${input} tokens.`;
        return { fault: { status: 400, body: { error: { message: tooLong } } } };
      }
      const reply: Reply = isSummary(request)
        ? { text: "SUMMARY: the code word is heron.", ...(beforeSummary && { gate: beforeSummary() }) }
        : answer(request);
      return { ...reply, usage: { input, output: Math.ceil((reply.text ?? "").length / 4) } };
    },
  });
  return Object.assign(server, {
    summaries: () => server.requests.filter(isSummary),
    turns: () => server.requests.filter((request) => !isSummary(request)),
  });
}

export function size({ body }: ModelRequest): number {
  return Math.ceil(JSON.stringify(body).length / 4);
}

export function isSummary({ messages }: Pick<ModelRequest, "messages">): boolean {
  return messages[0]!.text.startsWith("You summarize a conversation");
}

export function homeOf(server: { readonly openaiUrl: string }, contextWindow: number): HomeFiles {
  const own = { provider: "openai-compatible", baseUrl: server.openaiUrl, model: "m", contextWindow };
  const agents = { main: { tools: ["Big"], systemPrompt: "Be brief." } };
  return {
    cortex: {
      broker: { retryMs: 0, shutdownMs: 0 },
      agents,
      personas: { atlas: { permissions: { spendUsdPerDay: 1_000_000 } } },
    },
    profiles: { defaultProfile: "own", profiles: { own } },
  };
}

export async function ask(cortex: Cortex, content: string, thread?: TurnId) {
  const { item } = await cortex.send({ content, ...(thread !== undefined && { thread }) });
  const outcome = (await cortex.outcome(item, NEVER))!;
  const turn = outcome.kind === "turn" ? await cortex.store.turns.read(outcome.turn) : undefined;
  return { outcome, turn, text: turn?.messages.at(-1)?.content };
}

export async function compactions(store: Store): Promise<readonly unknown[]> {
  return store.query("select id from agent_turns where turn_type = 'compaction'");
}

/** A home whose main session has so many turns already. */
async function writeThread(home: string, turns: number): Promise<TurnId[]> {
  await using store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
  const lease = { holder: "before", ttlMs: 60_000 };
  const ids: TurnId[] = [];
  for (let i = 0; i < turns; i++) {
    const work = { dispatch: dispatch(`d${i}`, toSession("main")), claim: lease };
    const accepted = await store.events.accept(event(`e${i}`, { content: `question ${i}` }), work);
    const claim: Claim = accepted.dispatched!.claim!;
    const answered = message(claim.turn, "assistant", `Answer ${i}: ${"all is as it was. ".repeat(5)}`);
    const asked = message(`q${i}`, "user", `question ${i}`);
    await store.turns.commit(turnFor(claim, { messages: [asked, answered] }));
    ids.push(claim.turn);
  }
  return ids;
}

/** What is seen of a thread of so many turns that goes on in a small window. */
export async function continueThread(length: number) {
  using folder = temporaryFolder(memoryParent());
  const home = folder.path;
  await using server = await startCountingServer(8_000);
  writeHome(home, homeOf(server, 8_000));
  const turns = await writeThread(home, length);
  await using cortex = await openTestCortex({}, { home });
  const { store } = cortex;

  const answers = new Set<string | undefined>();
  for (let i = 0; i < 10; i++) answers.add((await ask(cortex, `and ${i}?`)).text);
  const once = await compactions(store);
  const summaries = server.summaries();
  const largest = Math.max(...server.requests.map(size));
  const first = server.turns()[0]!.messages.map(({ text }) => text);
  const head = (await store.sessions.head(MAIN_SESSION))!;
  const forked = await ask(cortex, "and then?", turns[17]);
  return {
    answers: [...answers],
    compactions: once.length,
    summaries: summaries.length,
    fits: largest < 8_000 * 0.85,
    isToldTheSummary: first.includes("SUMMARY: the code word is heron."),
    isToldTheLastAnswer: first.at(-2)!.includes(`Answer ${length - 1}:`),
    isShort: (await store.turns.context(head)).turns.length < 100,
    findsAncestor: (await store.turns.ancestor(head, 17)) === turns[17],
    forksAnywhere: forked.turn!.turn.parent === turns[17] && forked.turn!.turn.depth === 18,
    compactionsOfAFork: (await compactions(store)).length - once.length,
    isWhole: (await store.verify()).ok,
    problems: server.problems,
  };
}

/** What should be seen, however long the thread is. */
export const COMPACTED_ONCE: Awaited<ReturnType<typeof continueThread>> = {
  answers: ["Yes."],
  compactions: 1,
  summaries: 1,
  fits: true,
  isToldTheSummary: true,
  isToldTheLastAnswer: true,
  isShort: true,
  findsAncestor: true,
  forksAnywhere: true,
  compactionsOfAFork: 0,
  isWhole: true,
  problems: [],
};
