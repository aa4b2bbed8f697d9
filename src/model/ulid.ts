import { createHash, randomFillSync } from "node:crypto";

import { CortexError } from "./errors.ts";

/**
 * ULIDs: 48 bits of milliseconds and 80 random bits in 26 characters that sort by time.
 *
 * Within one source they are strictly increasing. Inside a millisecond, and while the clock is behind
 * the newest id, the random part is counted up instead of drawn again.
 */
export type UlidSource = () => string;

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const MAX_TIME_MS = 2 ** 48 - 1;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

export function createUlidSource(
  clock: () => number,
  random: (bytes: Uint8Array) => void = fillRandom,
): UlidSource {
  const digits = new Uint8Array(RANDOM_CHARACTERS);
  let lastMs = -1;
  let time = "";

  return () => {
    const nowMs = Math.floor(clock());
    if (!(nowMs >= 0 && nowMs <= MAX_TIME_MS)) throw clockOutOfRange(nowMs);
    if (nowMs > lastMs) startMillisecond(nowMs);
    else if (!countUp(digits)) startMillisecond(lastMs + 1);
    return time + spell(digits);
  };

  function startMillisecond(ms: number): void {
    if (ms > MAX_TIME_MS) throw clockOutOfRange(ms);
    lastMs = ms;
    time = spellTime(ms);
    random(digits);
    for (let i = 0; i < RANDOM_CHARACTERS; i++) digits[i] = digits[i]! & 31;
  }
}

/**
 * A ULID of the same time as another, made from a key: the same whenever it is made, and of no other key. For
 * what must not be there twice when the work that makes it is done again.
 */
export function deriveUlid(ulid: string, key: string): string {
  const hash = createHash("sha256").update(key).digest();
  return ulid.slice(0, TIME_CHARACTERS) + spell(hash.subarray(0, RANDOM_CHARACTERS).map((byte) => byte & 31));
}

/** The time that a ULID begins with. */
export function ulidMs(ulid: string): number {
  let ms = 0;
  for (const letter of ulid.slice(0, TIME_CHARACTERS)) ms = ms * 32 + ALPHABET.indexOf(letter);
  return ms;
}

/** Adds one; false, with nothing changed, when all digits are at their highest. */
function countUp(digits: Uint8Array): boolean {
  const last = digits.findLastIndex((digit) => digit < 31);
  if (last === -1) return false;
  digits[last] = digits[last]! + 1;
  digits.fill(0, last + 1);
  return true;
}

function spell(digits: Uint8Array): string {
  let text = "";
  for (const digit of digits) text += ALPHABET[digit];
  return text;
}

function spellTime(ms: number): string {
  let text = "";
  for (let rest = ms, i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

// Random bytes are drawn a block at a time: one call into the system for 64 ids.
const pool = new Uint8Array(RANDOM_CHARACTERS * 64);
let used = pool.length;

function fillRandom(bytes: Uint8Array): void {
  if (used + bytes.length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  bytes.set(pool.subarray(used, used + bytes.length));
  used += bytes.length;
}

function clockOutOfRange(ms: number): CortexError {
  return new CortexError("id_invalid", `The system clock (${ms} ms since 1970) is out of range`, {
    hint: "Set the machine's clock to a date after 1970.",
  });
}
