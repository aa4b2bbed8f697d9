import { expect, test } from "vitest";

import type { DeliveryId } from "../model/ids.ts";
import type { DeliveryClaim, StoredDelivery } from "../store/store.ts";
import { History, MAX_REMEMBERED } from "./history.ts";

function claimOf(id: string, attempt: number): DeliveryClaim {
  return { delivery: id as DeliveryId, attempt } as DeliveryClaim;
}

const fresh = { createdAtMs: 100, error: undefined } as StoredDelivery;
const failed = { createdAtMs: 100, error: "busy" } as StoredDelivery;

test("failures are remembered from claim to claim, and the age counts from the beginning", () => {
  const history = new History();
  history.recall(claimOf("a", 1), fresh, 500).failures = 3;
  expect(history.recall(claimOf("a", 2), failed, 900)).toEqual({ failures: 3, sinceMs: 100, revived: false });
});

test("one that somebody wants to be tried again begins anew", () => {
  const history = new History();
  history.recall(claimOf("a", 4), failed, 500).failures = 3;
  expect(history.recall(claimOf("a", 1), failed, 900)).toEqual({ failures: 0, sinceMs: 900, revived: true });
  expect(history.recall(claimOf("a", 2), failed, 950)).toEqual({ failures: 0, sinceMs: 900, revived: false });
});

test("no more is remembered than there is room for, and the newest stays", () => {
  const history = new History();
  for (let i = 0; i <= MAX_REMEMBERED; i++) history.recall(claimOf(`d${i}`, 1), fresh, 0).failures = 1;
  expect(history.recall(claimOf(`d${MAX_REMEMBERED}`, 2), failed, 0).failures).toBe(1);
  expect(history.recall(claimOf("d0", 2), failed, 0).failures).toBe(0);
});
