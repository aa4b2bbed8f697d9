import { ask } from "../client/ask.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { findServer, needServer } from "../client/server.ts";
import { type Invocation, text } from "../feature/command.ts";
import { pageOf } from "../feature/page.ts";
import { CortexError } from "../model/errors.ts";
import { parseScopes, SCOPES_USAGE } from "../model/scopes.ts";
import { moment, table } from "../terminal/text.ts";
import { lifetimeMs } from "./lifetime.ts";
import { replaceMainToken } from "./rotate-main-token.ts";
import { tokenView, type TokenView } from "./views.ts";

export async function listTokens(given: Invocation): Promise<void> {
  await using ledger = await openLedger(given.home);
  const tokens = await ledger.tokens.list({ limit: limitOf(given) });
  const page = pageOf(tokens, (token) => tokenView(token, Date.now()));
  given.print.data(page, () =>
    page.items.length === 0
      ? given.print.advice("No tokens. Create one with `cortex tokens create <name> --can read`.")
      : table(page.items.map(rowOf)),
  );
}

function rowOf({ id, name, state, can, lastUsedAt, expiresAt }: TokenView): string[] {
  const used = lastUsedAt === null ? "never used" : `used ${moment(lastUsedAt)}`;
  return [id, name, state, can.join(","), used, expiresAt === null ? "" : `expires ${moment(expiresAt)}`];
}

/** Its secret is the data, so that `$(cortex tokens create …)` is the token. */
export async function createToken(given: Invocation): Promise<void> {
  const { home, args, print } = given;
  const scopes = text(given, "can");
  if (scopes === undefined)
    throw new CortexError("usage", "Missing `--can`", { hint: `Scopes: ${SCOPES_USAGE}.` });
  const span = text(given, "expires");
  const body = {
    name: args[0] ?? "",
    can: parseScopes(scopes),
    ...(span === undefined ? {} : { expiresAt: new Date(Date.now() + lifetimeMs(span)).toISOString() }),
  };
  const request = { method: "POST", path: "/api/tokens", body } as const;
  const created = (await ask<TokenView & { readonly token: string }>(await needServer(home), request)).body;
  print.note(`Token ${created.id} can ${created.can.join(", ")}. It is not shown again:`);
  print.data(created, () => created.token);
}

export async function revokeToken({ home, args: [id = ""], print }: Invocation): Promise<void> {
  const request = { method: "DELETE", path: `/api/tokens/${encodeURIComponent(id)}` } as const;
  const { body } = await ask<TokenView>(await needServer(home), request);
  print.data(body, () => `Revoked ${body.name}.`);
}

export async function rotateMainToken({ home, print }: Invocation): Promise<void> {
  const server = await findServer(home);
  const rotated =
    server === undefined
      ? { ...replaceMainToken(home), rotatedAt: new Date().toISOString() }
      : (await ask(server, { method: "POST", path: "/api/tokens/rotate" })).body;
  print.data(
    rotated,
    () => "Replaced the main token. Browsers need a new link, and other programs the new token.",
  );
}
