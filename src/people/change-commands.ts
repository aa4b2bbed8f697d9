import { ask, type Request } from "../client/ask.ts";
import { openLedger } from "../client/ledger.ts";
import { needServer } from "../client/server.ts";
import { type Invocation, text } from "../feature/command.ts";
import { CortexError } from "../model/errors.ts";
import { describePerson, requirePerson } from "./read-commands.ts";
import type { PersonView } from "./views.ts";

export async function addPerson(given: Invocation): Promise<void> {
  const [id = ""] = given.args;
  const identities = text(given, "identity")
    ?.split(",")
    .map((part) => part.trim());
  const { role, permissions, limits } = readRights(given);
  const body = { id, name: text(given, "name"), identities, role, permissions, limits };
  await send({ method: "POST", path: "/api/people", body }, given);
}

export async function linkPerson(given: Invocation): Promise<void> {
  const [id = "", identity = ""] = given.args;
  const { identities } = await readPerson(id, given);
  const others = identities.filter((known) => known !== identity);
  const removes = given.options["remove"] === true;
  if (removes && others.length === identities.length) throw identityMissing(id, identity);
  const linked = removes ? others : [...others, identity];
  await send({ method: "PATCH", path: pathOf(id), body: { identities: linked } }, given);
}

export async function limitPerson(given: Invocation): Promise<void> {
  const [id = ""] = given.args;
  await send({ method: "PATCH", path: pathOf(id), body: readRights(given) }, given);
}

async function send(request: Request, { home, print }: Invocation): Promise<void> {
  const { body } = await ask<PersonView>(await needServer(home), request);
  print.data(body, () => describePerson(body));
}

async function readPerson(id: string, { home }: Invocation): Promise<PersonView> {
  const { body } = await ask<PersonView>(await needServer(home), { path: pathOf(id) });
  return body;
}

export async function removePerson({ home, args: [id = ""], print }: Invocation): Promise<void> {
  const { body } = await ask(await needServer(home), { method: "DELETE", path: pathOf(id) });
  print.data(body, () => `Removed ${id}. What they said stays; they are a guest now.`);
}

export async function forgetPerson({ home, args: [id = ""], options, print }: Invocation): Promise<void> {
  if (options["yes"] !== true) {
    await using ledger = await openLedger(home);
    const { name } = await requirePerson(id, ledger);
    print.data({ id, dryRun: true }, () =>
      print.advice(
        `Nothing was changed. Use \`--yes\` to delete ${name} and the text of what they said; it cannot be undone.`,
      ),
    );
    return;
  }
  const request = { method: "DELETE", path: `${pathOf(id)}?forget=1` } as const;
  const { body } = await ask<{ forgotten: Readonly<Record<string, number>> }>(
    await needServer(home),
    request,
  );
  const counts = Object.entries(body.forgotten).filter(([, count]) => count > 0);
  print.data({ dryRun: false, ...body }, () =>
    [`Forgot ${id}.`, ...counts.map(([kind, count]) => `  ${count} ${kind} without text`)].join("\n"),
  );
}

function pathOf(id: string): string {
  return `/api/people/${encodeURIComponent(id)}`;
}

/** A typo must not pass for a right that was taken away. */
function identityMissing(id: string, identity: string): CortexError {
  return new CortexError("state_conflict", `Person "${id}" does not have the identity ${identity}`, {
    hint: `Run \`cortex people show ${id}\` to list their identities.`,
  });
}

const NONE = "none";

/** Absent: unchanged. `none`: null, which removes. */
function readRights(given: Invocation) {
  const limits = {
    pending: numberOf("--pending", text(given, "pending")),
    perMinute: numberOf("--per-minute", text(given, "perMinute")),
    usdPerDay: numberOf("--usd-per-day", text(given, "usdPerDay")),
  };
  const isLimited = Object.values(limits).some((limit) => limit !== undefined);
  return {
    role: text(given, "role"),
    permissions: permissionsOf(given),
    limits: isLimited ? limits : undefined,
  };
}

function numberOf(option: string, value: string | undefined): number | null | undefined {
  if (value === undefined) return undefined;
  if (value === NONE) return null;
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number)) return number;
  throw new CortexError("usage", `Expected a number for \`${option}\`, got "${value}"`, {
    hint: "Use a number of at least 0, or `none` to remove the limit.",
  });
}

function permissionsOf(given: Invocation): unknown {
  const value = text(given, "permissions");
  if (value === undefined) return undefined;
  if (value === NONE) return null;
  try {
    return JSON.parse(value) as unknown;
  } catch (cause) {
    throw new CortexError("usage", "Invalid JSON in `--permissions`", {
      hint: 'For example: --permissions \'{"tools": {"deny": ["Bash"]}}\'.',
      cause,
    });
  }
}
