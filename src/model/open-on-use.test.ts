import { expect, test } from "vitest";

import { OpenOnUse } from "./open-on-use.ts";

class Counter {
  #count = 0;

  async add(more: number): Promise<number> {
    return (this.#count += more);
  }
}

test("nothing is opened before it is used, and it is opened once", async () => {
  let opened = 0;
  const counter = new OpenOnUse(async () => {
    opened++;
    return new Counter();
  });
  const methods = counter.methods();
  expect(await (methods as unknown as Promise<unknown>)).toBe(methods); // awaiting the methods is no use of the thing
  expect(await counter.opened()).toBeUndefined();
  expect(opened).toBe(0);

  await Promise.all([methods.add(1), methods.add(2)]);
  expect(await methods.add(3)).toBe(6);
  expect(await (await counter.open()).add(4)).toBe(10);
  expect(await counter.opened()).toBe(await counter.open());
  expect(opened).toBe(1);
});

test("a failed opening fails those who wait for it, and the next use tries again", async () => {
  let isBroken = true;
  const counter = new OpenOnUse(async () => {
    if (isBroken) throw new Error("broken");
    return new Counter();
  });
  const failed = counter.methods().add(1);
  await expect(failed).rejects.toThrow("broken");
  expect(await counter.opened()).toBeUndefined();
  isBroken = false;
  expect(await counter.methods().add(1)).toBe(1);
});
