/**
 * Programs that tell of something and name no target, so that a hook decides what becomes of it: one calls a webhook
 * until it is acknowledged, the other leaves files in a watched folder.
 */
import { createHmac } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Random } from "../../simulation/random.ts";
import type { Door } from "./door.ts";
import { type Reply, request } from "./request.ts";
import { placesIn, secretOf, WANTED, WEBHOOK } from "./served.ts";

export interface Told {
  /** The deliveries of the webhook that were acknowledged: what they say, by their ids. */
  readonly acknowledged: Map<string, string>;
  /** What is in the files that were dropped. */
  readonly dropped: string[];
  readonly problems: string[];
}

export interface TellersParts {
  readonly home: string;
  readonly door: Door;
  readonly random: Random;
  readonly told: Told;
}

/** So that they do not tell more than can be done about it. */
const MAX_PAUSE_MS = 1_500;
const UNWANTED = "NOISE ";

/** Tells until it is told to stop; resolves when the last webhook was acknowledged. */
export async function tellAll(parts: TellersParts, isOver: () => boolean): Promise<void> {
  const again = async (tell: (n: number) => Promise<void> | void): Promise<void> => {
    for (let n = 0; !isOver(); n++) {
      await tell(n);
      await delay(parts.random.below(MAX_PAUSE_MS));
    }
  };
  await Promise.all([
    again((n) => callWebhook(`alarm-${n}`, parts)),
    again((n) => dropFile(`drop-${n}`, parts)),
  ]);
}

/** A webhook that was acknowledged is the same event ever after. */
export async function tellAgain(parts: TellersParts): Promise<void> {
  for (const [delivery, content] of parts.told.acknowledged) await deliver(delivery, content, parts);
}

async function callWebhook(delivery: string, parts: TellersParts): Promise<void> {
  const content = sayOf(delivery, parts.random);
  if (!(await deliver(delivery, content, parts))) return;
  parts.told.acknowledged.set(delivery, content);
  if (parts.random.chance(0.3)) await deliver(delivery, content, parts);
}

/** False: it is to go home. */
async function deliver(delivery: string, content: string, parts: TellersParts): Promise<boolean> {
  const reply = await request(parts.door, `/webhooks/${WEBHOOK}`, () => ({
    method: "POST",
    headers: { ...sign(content, secretOf(parts.home)), "X-Cortex-Delivery": delivery },
    body: content,
  }));
  if (reply === undefined) return false;
  if (!isAcknowledged(reply, delivery))
    parts.told.problems.push(`delivery ${delivery} was answered with ${JSON.stringify(reply)}`);
  return true;
}

function isAcknowledged({ status, json }: Reply, delivery: string): boolean {
  return status === 202 && json.eventId === eventOf(delivery);
}

export function eventOf(delivery: string): string {
  return `webhook:${WEBHOOK}:${delivery}`;
}

function sign(body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "X-Cortex-Timestamp": timestamp, "X-Cortex-Signature": `sha256=${signature}` };
}

function dropFile(name: string, { home, random, told }: TellersParts): void {
  const content = sayOf(name, random);
  const { drop, growing } = placesIn(home);
  writeFileSync(join(growing, name), content);
  renameSync(join(growing, name), join(drop, name));
  told.dropped.push(content);
}

function sayOf(name: string, random: Random): string {
  return (random.chance(0.15) ? UNWANTED : WANTED) + name;
}
