/** A turn that gives work away, on a real store; nobody takes the work up but the test. */
import type { DelegationPorts } from "../../src/delegation/accept.ts";
import type { Ports } from "../../src/feature/ports.ts";
import { createDelegationTools } from "../../src/delegation/surface/tools.ts";
import { CortexError } from "../../src/model/errors.ts";
import type { AgentId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/json.ts";
import type { ToolContext, ToolOutcome } from "../../src/model/tool.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import type { Claim, NewDispatch, NewEvent, Store } from "../../src/store/store.ts";
import { loadFiles } from "./config-home.ts";
import { openTestStore, type TestStore } from "./open-store.ts";
import { alice, dispatch, event, toSession } from "./sample.ts";
import { EVERYTHING } from "./tool-context.ts";

export interface Delegating extends AsyncDisposable {
  readonly opened: TestStore;
  readonly store: Store;
  readonly ports: DelegationPorts & Pick<Ports, "log">;
  readonly problems: unknown[];
  /** Begins a turn of the agent main in a session. */
  begin(
    name: string,
    label?: string,
    fields?: Partial<NewDispatch>,
    said?: Partial<NewEvent>,
  ): Promise<Claim>;
  /** Makes a call in a turn; a CortexError is its text. */
  call(
    claim: Claim,
    tool: string,
    params: Json,
    fields?: Partial<ToolContext>,
  ): Promise<ToolOutcome | string>;
  /** Takes up what waits. */
  lease(): Promise<Claim[]>;
}

export async function openDelegating(cortex: object = {}): Promise<Delegating> {
  const agents = { main: {}, coder: {}, scout: {} };
  const { config } = await loadFiles({ "cortex.json": { agents, ...cortex } });
  const opened = await openTestStore();
  const { clock } = opened;
  const problems: unknown[] = [];
  const mintId = createUlidSource(clock);
  // Anew for each use: the store after a crash is another one.
  const portsNow = (): Delegating["ports"] => ({
    store: opened.store,
    settings: { config: () => config, profile: (name) => ({ name, backend: "offline", fallback: [] }) },
    clock,
    mintId,
    slots: { withSlot: async (act) => (await act(undefined)).result },
    isJudged: () => false,
    onChainEnded: async (_, by) => void problems.push(`${by} wanted to go on`),
    log: (line) => void problems.push(line),
  });
  return {
    opened,
    get store() {
      return opened.store;
    },
    get ports() {
      return portsNow();
    },
    problems,
    async begin(name, label = "main", fields = {}, said = {}) {
      const accepted = await opened.store.events.accept(event(name, said), {
        dispatch: dispatch(name, toSession(label), fields),
        claim: alice,
      });
      return accepted.dispatched!.claim!;
    },
    async call(claim, name, params, fields = {}) {
      const tool = createDelegationTools(portsNow, portsNow().settings.config).find(
        (each) => each.name === name,
      )!;
      try {
        return await tool.run(params, contextOf(claim, fields));
      } catch (error) {
        if (error instanceof CortexError) return `${error.message}. ${error.hint}`;
        throw error;
      }
    },
    lease: () => opened.store.queue.lease({ ...alice, holder: "next" }, 10),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function contextOf({ lease, turn, run }: Claim, fields: Partial<ToolContext>): ToolContext {
  return {
    session: lease.session,
    agent: "main" as AgentId,
    turn,
    run,
    epoch: lease.epoch,
    callId: "call-0",
    callKey: `${turn}-0`,
    workspace: "/",
    roots: [],
    readable: [],
    hidden: [],
    reserved: [],
    permissions: EVERYTHING,
    delegable: fields.permissions ?? EVERYTHING,
    outputFolder: "/",
    environment: {},
    signal: new AbortController().signal,
    ...fields,
  };
}
