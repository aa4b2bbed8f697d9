/** Commands that show stored relays. They need no server. */
import { CortexError } from "../../model/errors.ts";
import type { RelayId } from "../../model/ids.ts";
import { unknownRelay } from "../record/kept-relay.ts";
import { countSteps } from "../record/record.ts";
import { formatUsd } from "../record/summary.ts";
import {
  readArtifactChanges,
  readRelayArtifact,
  readRelayView,
  readRelayViews,
  type RelayView,
} from "./views.ts";
import { pageOf } from "../../feature/page.ts";
import { coloredDiff } from "../../terminal/print.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { limitOf, openLedger } from "../../client/ledger.ts";
import type { Ledger } from "../../store/store.ts";
import { describeStep, endLine, isOver, relayProgressLine, stepCells, stepLine } from "./text.ts";
import { count, firstLine, harmless, indent, moment, table } from "../../terminal/text.ts";

const MAX_TEXT_LENGTH = 80;

export async function listRelays(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  const running = given.options["running"] === true;
  await using ledger = await openLedger(given.home);
  const page = pageOf(await readRelayViews(ledger, { running, limit }), (view) => view);
  given.print.data(page, () =>
    page.items.length === 0
      ? running
        ? "No relay is running."
        : given.print.advice("No relays. `cortex relay run <template> <message>` starts one.")
      : table(page.items.map(cells)),
  );
}

export async function showRelayStatus({ home, args, print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const view = await find(args[0], ledger);
  print.data(view, () =>
    [
      isOver(view) ? endLine(view, Date.now()) : relayProgressLine(view, Date.now()),
      table([
        ["template", view.templateName ?? "a single agent"],
        ["asked", firstLine(view.userMessage, MAX_TEXT_LENGTH)],
        ["begun", moment(view.createdAt)],
        ["artifact", view.artifactPath === "" ? "none" : view.artifactPath],
      ]),
      ...(view.steps.length === 0 ? [] : [table(view.steps.map(stepCells))]),
    ].join("\n\n"),
  );
}

export async function showRelay(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  await using ledger = await openLedger(home);
  const view = await find(args[0], ledger);
  const step = stepOf(given, view);
  if (step !== undefined) {
    const artifact = await readRelayArtifact(home, view, step);
    if (artifact === undefined) throw notKept(view, step);
    print.data({ id: view.id, step: step + 1, content: artifact }, () => harmless(artifact.trimEnd()));
    if (artifact === "" && !print.json) print.note("The artifact was empty.");
  } else if (options["diff"] === true) await showChanges(view, given);
  else {
    const artifact = (await readRelayArtifact(home, view)) ?? null;
    print.data({ ...view, artifact }, () =>
      [
        isOver(view) ? endLine(view, Date.now()) : relayProgressLine(view, Date.now()),
        ...view.steps.map(describeStep),
        artifact === null
          ? "The artifact is not available."
          : `artifact\n${indent(harmless(artifact.trimEnd() || "(empty)"))}`,
      ].join("\n\n"),
    );
  }
}

async function showChanges(view: RelayView, { home, print }: Invocation): Promise<void> {
  const changes = await readArtifactChanges(home, view);
  print.data({ id: view.id, changes }, () =>
    changes.length === 0
      ? "No step has ended yet."
      : view.steps
          .flatMap((step) => {
            const change = changes.find((each) => each.step === step.stepIndex + 1);
            if (change === undefined) return [];
            const { diff } = change;
            const shown =
              diff === null ? "(not available)" : diff === "" ? "(no changes)" : coloredDiff(diff, print);
            return [`${stepLine({ ...step, output: null })}\n${indent(shown)}`];
          })
          .join("\n\n"),
  );
}

/** Default: the newest relay. */
async function find(id: string | undefined, ledger: Ledger): Promise<RelayView> {
  if (id === undefined) {
    const [newest] = (await readRelayViews(ledger, { running: false, limit: 1 })).items;
    if (newest !== undefined) return newest;
    throw new CortexError("relay_unknown", "No relays yet", {
      hint: "`cortex relay run <template> <message>` starts one.",
    });
  }
  const view = await readRelayView(id as RelayId, ledger);
  if (view !== undefined) return view;
  throw unknownRelay(id);
}

/** Steps are counted from 1, as they are shown. */
function stepOf(given: Invocation, { steps }: RelayView): number | undefined {
  const wanted = text(given, "step");
  if (wanted === undefined) return undefined;
  const step = Number(wanted) - 1;
  if (steps.some(({ stepIndex }) => stepIndex === step)) return step;
  throw new CortexError("usage", `Unknown step "${wanted}"`, {
    hint: steps.length === 0 ? "The relay has no steps yet." : `Steps are numbered 1 to ${steps.length}.`,
  });
}

function notKept({ id }: RelayView, step: number): CortexError {
  return new CortexError("state_conflict", `The artifact of ${id} after step ${step + 1} is not available`, {
    hint: "The step has not ended, or its artifact could not be read.",
  });
}

function cells(view: RelayView): string[] {
  const { id, createdAt, status: state, templateName, totalCostUsd, userMessage } = view;
  return [
    id,
    moment(createdAt),
    state,
    templateName ?? "-",
    count(countSteps(view), "step"),
    formatUsd(totalCostUsd),
    firstLine(userMessage, MAX_TEXT_LENGTH),
  ];
}
