import { afterEach, expect, test, vi } from "vitest";

import { createPrinter } from "./print.ts";

afterEach(() => void vi.restoreAllMocks());

test("whatever others have called something, a terminal obeys none of it", () => {
  const said: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => said.push(String(text)) > 0);
  }
  const evil = "webhook:\u001b]52;c;ZXZpbA==\u0007id\u009b2J";
  const print = createPrinter({ json: false, quiet: false, color: false, inWords: String });
  print.data({}, () => `event ${evil}`);
  print.note(`no ${evil}`);
  expect(said).toEqual(["event webhook:id\n", "no webhook:id\n"]);
});
