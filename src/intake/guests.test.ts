import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { event } from "../../test/support/sample.ts";
import { personPrincipal } from "../model/principal.ts";
import { boundGuestEvent, isByGuest } from "./guests.ts";

const { config } = await loadFiles({});
const { characters } = config.people.guests;

test("a guest's event keeps the beginning of its text, and nothing that came with it", () => {
  const long = "x".repeat(characters + 1);
  const given = event("a", {
    content: long,
    payload: { huge: long },
    metadata: { huge: long },
    attachments: [{ name: "a.bin", data: "AAAA" }],
  });
  const bounded = boundGuestEvent(given, config);
  expect(bounded.content).toHaveLength(characters + 1); // with an ellipsis
  expect(bounded).toMatchObject({
    metadata: { bounded: { characters: characters + 1, attachments: 1 } },
  });
  expect(bounded).not.toHaveProperty("payload");
  expect(bounded).not.toHaveProperty("attachments");
  expect(boundGuestEvent(event("b", { content: "short" }), config)).toEqual(event("b", { content: "short" }));
});

test.each(["received", "updated", "observed", "created", "deleted"] as const)(
  "what a guest wrote is bounded when it is %s",
  (direction) => expect(isByGuest(event("a", { direction }))).toBe(true),
);

test("nothing else is bounded", () => {
  expect(isByGuest(event("a", { principal: personPrincipal("ada") }))).toBe(false);
  expect(isByGuest(event("a", { direction: "sent" }))).toBe(false);
});
