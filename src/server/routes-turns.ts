import { CortexError } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import { parseQueueMode } from "../model/queue-mode.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { fullTurnView } from "../feature/views.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import { ForkRequest, TurnsQuery } from "../feature/requests.ts";
import { route } from "../feature/route.ts";
import { readTurns, threadPage } from "./thread.ts";
import { replyWithOutcome } from "./routes-messages.ts";

export const turnRoutes = [
  route({
    method: "get",
    path: "/api/turns/:id",
    needs: "read",
    summary: "Get a turn with its messages and tool calls",
    answers: { 200: schemas.FullTurn },
    async handle({ params }, { cortex }) {
      const content = await cortex.store.turns.read(params.id as TurnId);
      if (content === undefined) throw turnUnknown(params.id);
      return { status: 200, body: fullTurnView(content) };
    },
  }),
  route({
    method: "get",
    path: "/api/turns/:id/thread",
    needs: "read",
    summary: "List the thread that ends with this turn, newest first",
    query: TurnsQuery,
    answers: { 200: schemas.Turns },
    async handle({ params, query }, { cortex }) {
      const turn = await findTurn(params.id, cortex);
      return { status: 200, body: await threadPage(turn, query, cortex.store) };
    },
  }),
  route({
    method: "get",
    path: "/api/turns/:id/children",
    needs: "read",
    summary: "List the turns that directly follow this one",
    answers: { 200: schemas.Turns },
    async handle({ params }, { cortex: { store }, cortex }) {
      const children = await store.turns.children(await findTurn(params.id, cortex));
      return { status: 200, body: { items: await readTurns(children, store), next: null } };
    },
  }),
  route({
    method: "post",
    path: "/api/turns/:id/fork",
    needs: "send",
    summary: "Fork a session from this turn, optionally with a first message",
    body: ForkRequest,
    answers: { 200: schemas.Answered, 201: schemas.Forked, 202: schemas.Accepted },
    async handle(
      { caller, params, body: { content, session, mode, wait = false }, signal, mayContinue },
      context,
    ) {
      const { cortex } = context;
      // Checked first: a refused message leaves no session behind.
      if (mode !== undefined) parseQueueMode(mode);
      if (content === undefined ? wait || mode !== undefined : content.trim() === "") throw contentMissing();
      const turn = await findTurn(params.id, cortex);
      const { key } = await cortex.fork(turn, session);
      if (content === undefined) return { status: 201, body: { session: key } };
      const sent = await cortex.send({ content, session: key, mode, caller });
      return replyWithOutcome(sent, { wait, signal, mayContinue }, context);
    },
  }),
];

async function findTurn(id: string, { store }: Cortex): Promise<TurnId> {
  const turn = await store.turns.get(id as TurnId);
  if (turn === undefined) throw turnUnknown(id);
  return turn.id;
}

function turnUnknown(id: string): CortexError {
  return new CortexError("turn_unknown", `Unknown turn "${id.slice(0, 80)}"`, {
    hint: "List turns with `cortex log --all` or GET /api/sessions/<key>/turns. An id has 26 characters.",
  });
}

function contentMissing(): CortexError {
  return new CortexError("request_invalid", "Missing message content", {
    hint: "Add content, or omit content, mode and wait to fork without a message.",
  });
}
