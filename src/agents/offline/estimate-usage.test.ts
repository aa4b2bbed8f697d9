import { expect, test } from "vitest";

import { assistant, exchange, outcome, user } from "../../../test/support/conversation.ts";
import { NO_USAGE } from "../../model/usage.ts";
import { estimateUsage } from "./estimate-usage.ts";

test("four characters that are read or said are a token", () => {
  const system = "12345678";
  const said = [{ type: "text", text: "12345" } as const];
  expect(estimateUsage({ system, exchanges: [] }, said)).toEqual({ ...NO_USAGE, input: 2, output: 2 });
});

test("envelopes, calls and their results are read too, and nothing twice", () => {
  const call = { id: "c", name: "List", arguments: {} };
  const parts = [user("12345678", "123"), assistant("12", "List"), user("1234")];
  const turn = exchange(parts, [outcome(call, 0, "123456789012")]);
  // 3 + a line break + 8, 2 + List{}, 4, and 12 of the result.
  expect(estimateUsage({ system: "", exchanges: [turn] }, []).input).toBe((12 + 8 + 4 + 12) / 4);
});

test("a call that is wanted counts as output", () => {
  const call = { type: "toolCall", id: "c", name: "List", arguments: { a: 1 } } as const;
  expect(estimateUsage({ system: "", exchanges: [] }, [call]).output).toBe(3);
});
