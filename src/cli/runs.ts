import { runView } from "../feature/views.ts";
import { pageOf } from "../feature/page.ts";
import { type Invocation, text } from "../feature/command.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { firstLine, moment, table } from "../terminal/text.ts";
import { CortexError } from "../model/errors.ts";

const STATES = ["running", "suspended", "resumable", "failed", "completed", "aborted"] as const;
const MAX_ERROR_LENGTH = 80;

export async function listRuns(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  const state = stateOf(text(given, "state"));
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.runs.list({ limit, ...(state === undefined ? {} : { state }) }), runView);
  given.print.data(page, () => {
    if (page.items.length === 0) return "No runs.";
    return table(
      page.items.map(({ id, state, session, attempt, startedAt, error }) => [
        id,
        moment(startedAt),
        attempt === 1 ? state : `${state}, attempt ${attempt}`,
        session,
        firstLine(error ?? "", MAX_ERROR_LENGTH),
      ]),
    );
  });
}

function stateOf(word: string | undefined): (typeof STATES)[number] | undefined {
  if (word === undefined) return undefined;
  const state = STATES.find((candidate) => candidate === word);
  if (state !== undefined) return state;
  throw new CortexError("usage", `Unknown run state "${word}"`, {
    hint: `States: ${STATES.join(", ")}.`,
  });
}
