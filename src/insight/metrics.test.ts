import { expect, test } from "vitest";

import { openTestServer } from "../../test/support/server.ts";

test("Prometheus reads how much there is of everything", async () => {
  await using server = await openTestServer({ script: "- { when: .*, plays: [{ say: hello }] }" });
  await server.send({ method: "POST", path: "/api/messages", json: { content: "hi", wait: true } });
  const { status, headers, text } = await server.send("/metrics");

  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const values = new Map(
    text
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("#"))
      .map((line): [string, number] => [line.split(" ")[0]!, Number(line.split(" ")[1])]),
  );
  expect(values.get("cortex_events_total")).toBe(2);
  expect(values.get("cortex_turns_total")).toBe(1);
  expect(values.get("cortex_sessions")).toBe(1);
  expect(values.get('cortex_runs{state="running"}')).toBe(0);
  expect(values.get('cortex_deliveries{state="dead"}')).toBe(0);
  for (const [name, value] of values) expect([name, Number.isFinite(value)]).toEqual([name, true]);
});
