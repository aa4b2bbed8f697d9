/**
 * What people are told of a relay, in the place that it was started from. The notices name steps only. The end quotes the
 * artifact, the last answer and errors: it waits for the owner if not everyone there may know what the relay has read.
 */
import { noticesTo } from "../../delivery/address.ts";
import { labelNames } from "../../model/label-names.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import type { NewApproval, RelayChange } from "../../store/store.ts";
import { isAskingTooMuch } from "../../turns/approval.ts";
import { sendOrHold } from "../../turns/hold-answer.ts";
import { causeOf, inContext } from "../../turns/request-context.ts";
import type { Move } from "./advance.ts";
import type { EnginePorts } from "./engine-ports.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { progressPlace } from "../record/progress-place.ts";
import { labelOfRelay, principalOfRelay } from "./relay-label.ts";

type TellingPorts = Pick<EnginePorts, "store" | "settings" | "clock" | "mintId" | "can">;

export async function noticesOf(
  { notices, farewell }: Pick<Move, "notices" | "farewell">,
  relay: Pick<KeptRelay, "record" | "detail">,
  ports: TellingPorts,
): Promise<Pick<RelayChange, "deliveries" | "held">> {
  const { record, detail } = relay;
  const { delivery, audience = OWNER_PRINCIPAL } = detail;
  const { store, mintId } = ports;
  if (delivery === undefined) return {};
  const toPlace = (text: string) => noticesTo(delivery, text, mintId);
  const told = progressPlace(detail, ports.can) === undefined ? notices.flatMap(toPlace) : [];
  if (farewell === undefined) return { deliveries: told };
  const end = await sendOrHold(
    {
      text: farewell,
      deliveries: toPlace(farewell),
      audience,
      readLabel: () => labelOfRelay(record, detail, store),
      mayAsk: async () =>
        !(await isAskingTooMuch({ principal: await principalOfRelay(detail, store), own: 0 }, ports)),
      noticesTo: toPlace,
      inContext: (request) => withContext(request, relay, store),
    },
    { ...ports, redact: (text) => text }, // the store redacts what it keeps
  );
  return { ...end, deliveries: [...told, ...end.deliveries] };
}

async function withContext(
  request: NewApproval,
  { record, detail }: Pick<KeptRelay, "record" | "detail">,
  store: TellingPorts["store"],
): Promise<NewApproval> {
  const cause = detail.cause === undefined ? undefined : await store.events.get(detail.cause);
  const [label, principal, causedBy] = await Promise.all([
    labelOfRelay(record, detail, store),
    principalOfRelay(detail, store),
    cause === undefined ? undefined : causeOf({ event: cause, dispatches: [] }, store),
  ]);
  const agent = record.steps.at(-1)?.agentSlotId ?? record.id;
  const workspace = detail.dir ?? record.workspacePath;
  return inContext(request, { agent, workspace, principal, labels: labelNames(label), causedBy });
}
