/** As encode.ts, for relays. */
import type { NewRelay, RelayChange, RelayStepChange } from "../store.ts";
import { checkKey, encodeDelivery, encodeDispatch, encodeEvent, encodeHeld, encodeJson } from "./encode.ts";
import type { Input } from "./operations.ts";

type StepInput = Input<"saveRelay">["steps"][number];

export function encodeRelay(relay: NewRelay): Input<"createRelay"> {
  const { id, template, state, record, detail, config, channel, caller, steps = [], times } = relay;
  return {
    id,
    template,
    state,
    record: encodeJson(record, `The record of relay ${id}`),
    detail: detail === undefined ? null : encodeJson(detail, `The detail of relay ${id}`),
    config,
    channel: channel ?? null,
    caller,
    steps: steps.map((step) => encodeStep(id, step)),
    createdMs: times?.createdAtMs ?? null,
    endedMs: times?.endedAtMs ?? null,
  };
}

/** The caller adds the version and the claim. */
export function encodeRelayChange(
  id: string,
  change: RelayChange,
): Omit<Input<"saveRelay">, "version" | "claim"> {
  const {
    state,
    record,
    detail,
    config,
    due = false,
    steps = [],
    deliveries = [],
    held,
    stop,
    tell,
  } = change;
  return {
    id,
    state,
    record: encodeJson(record, `The record of relay ${id}`),
    detail: detail === undefined ? null : encodeJson(detail, `The detail of relay ${id}`),
    config,
    due: Number(due),
    steps: steps.map((step) => encodeStep(id, step)),
    deliveries: deliveries.map(encodeDelivery),
    held: encodeHeld(held),
    stop: stop ?? null,
    tell:
      tell === undefined
        ? undefined
        : { event: encodeEvent(tell.event), dispatch: encodeDispatch(tell.dispatch) },
  };
}

function encodeStep(id: string, change: RelayStepChange): StepInput {
  const { step, slot, record, isEnded, costUsd, accept } = change;
  return {
    step,
    slot,
    record: encodeJson(record, `Step ${step} of relay ${id}`),
    isEnded: Number(isEnded),
    costUsd: costUsd ?? null,
    accept:
      accept === undefined
        ? undefined
        : {
            event: encodeEvent(accept.event),
            dispatch: encodeDispatch(accept.dispatch),
            worker: encodeJson(accept.worker, "The brief of a step"),
            trust: accept.trust.map(checkKey),
          },
  };
}
