/** Every store there is, for the contract that each of them keeps, and the first steps of most tests. */
import type { TurnId } from "../../src/model/ids.ts";
import { openSqliteLedger } from "../../src/store/sqlite/sqlite-ledger.ts";
import type { Claim, Ledger, Store } from "../../src/store/store.ts";
import { openWarmStore } from "./open-store.ts";
import { alice, dispatch, event, testClock, toSession, turnFor } from "./sample.ts";
import { memoryParent, temporaryFolder } from "./temporary.ts";

interface Opened extends AsyncDisposable {
  readonly store: Store;
  readonly clock: ReturnType<typeof testClock>;
  /** Opens the same data once more, for reading only. */
  readonly openLedger: () => Promise<Ledger>;
}

export const STORES: Readonly<Record<string, () => Promise<Opened>>> = {
  sqlite: async () => {
    const folder = temporaryFolder(memoryParent());
    const clock = testClock();
    const path = `${folder.path}/cortex.db`;
    const store = await openWarmStore({ path, clock });
    return {
      store,
      clock,
      openLedger: () => openSqliteLedger({ path }),
      [Symbol.asyncDispose]: async () => {
        await store[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
      },
    };
  },
};

/** Sends a message to a session and takes the claim on it at once. */
export async function begin(store: Store, name: string, label = "work"): Promise<Claim> {
  const accepted = await store.events.accept(event(name), {
    dispatch: dispatch(name, toSession(label)),
    claim: alice,
  });
  return accepted.dispatched!.claim!;
}

export async function finishTurn(store: Store, name: string, label = "work"): Promise<TurnId> {
  const claim = await begin(store, name, label);
  await store.turns.commit(turnFor(claim));
  return claim.turn;
}
