import { errorText } from "../model/errors.ts";
import { must } from "./expect.ts";
import type { Subject } from "./subject.ts";

/** What `cortex channels test` and the doctor would say. */
export async function checkProbe({ module, start }: Subject): Promise<void> {
  await using counterpart = await start();
  const settings = module.settings.parse(counterpart.settings);
  const ports = {
    account: "default",
    secret: (name: string) => counterpart.variables[name] ?? "",
    fetch,
    clock: Date.now,
    log: () => {},
    readFile: async () => new Uint8Array(),
  };
  const findings = await module.probe(settings, ports);
  must("no failure", findings, findings.length > 0 && findings.every(({ state }) => state !== "fail"));
  counterpart.revoke();
  const told = await module.probe(settings, ports).catch((error: unknown) => errorText(error));
  const isTold = typeof told === "string" ? told !== "" : told.some(({ state }) => state === "fail");
  must("a failure, or an error, with revoked credentials", told, isTold);
}
