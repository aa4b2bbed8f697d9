import { expect, test } from "vitest";
import { z } from "zod";

import type { SetupStep } from "../channel.ts";
import { askedValues, changeFor, type ConfiguredAccount } from "./asked-values.ts";

const settings = z.object({
  address: z.string(),
  botTokenEnv: z.string(),
  signingSecretEnv: z.string().optional(),
  imap: z.object({ host: z.string(), port: z.int() }),
});
const asks = (setting: string, secret: boolean, more: object = {}): SetupStep => ({
  title: setting,
  text: "",
  asks: { setting, secret, example: "x", ...more },
});
const module = {
  settings,
  setup: [
    asks("address", false),
    asks("botTokenEnv", true),
    asks("signingSecretEnv", true, { optional: true, variable: "SIGNING" }),
    asks("imap.host", false),
    asks("imap.port", false),
  ],
};

const account = (more: Partial<ConfiguredAccount> = {}): ConfiguredAccount => ({
  channel: "mail",
  account: "default",
  entry: undefined,
  environment: {},
  fileVariables: new Map(),
  ...more,
});

test("secrets have usual variables, of their own for each account, or those that are configured", () => {
  const variablesOf = (configured: ConfiguredAccount) =>
    askedValues(module, configured).flatMap(({ variable }) => variable ?? []);
  expect(variablesOf(account())).toEqual(["MAIL_BOT_TOKEN", "SIGNING"]);
  expect(variablesOf(account({ account: "my-work" }))).toEqual(["MAIL_BOT_TOKEN_MY_WORK", "SIGNING_MY_WORK"]);
  expect(variablesOf(account({ entry: { botTokenEnv: "OURS" } }))).toEqual(["OURS", "SIGNING"]);
});

test("what is set already is known with its place; an empty variable is not set", () => {
  const configured = account({
    entry: { address: "a@b.c", imap: { port: 993 } },
    environment: { MAIL_BOT_TOKEN: "mine", SIGNING: "" },
    fileVariables: new Map([
      ["MAIL_BOT_TOKEN", "hidden by the environment"],
      ["SIGNING", "too"],
    ]),
  });
  expect(askedValues(module, configured).map(({ current }) => current)).toEqual([
    { value: "a@b.c", from: "cortex.json" },
    { value: "mine", from: "the environment" },
    undefined,
    undefined,
    { value: "993", from: "cortex.json" },
  ]);
});

test("new values change only what is new, each with its type, and leave the rest of the account alone", () => {
  const configured = account({
    account: "work",
    entry: { groups: "all", address: "old@b.c", imap: { host: "mail" } },
  });
  const asked = askedValues(module, configured);
  const values = new Map([
    ["address", "new@b.c"],
    ["botTokenEnv", "secret"],
    ["imap.port", "993"],
  ]);
  const { settings: after, variables, entries, variable } = changeFor(module, { values, asked, configured });
  expect(after).toEqual({
    groups: "all",
    address: "new@b.c",
    botTokenEnv: "MAIL_BOT_TOKEN_WORK",
    imap: { host: "mail", port: 993 },
  });
  expect(variables).toEqual([{ name: "MAIL_BOT_TOKEN_WORK", before: undefined, after: "secret" }]);
  expect(variable("MAIL_BOT_TOKEN_WORK")).toBe("secret");
  const at = ["channels", "mail", "accounts", "work"];
  expect(entries).toEqual([
    { path: [...at, "botTokenEnv"], before: undefined, after: "MAIL_BOT_TOKEN_WORK" },
    { path: [...at, "address"], before: "old@b.c", after: "new@b.c" },
    { path: [...at, "imap", "port"], before: undefined, after: 993 },
  ]);
});

test("a channel that needs no values gets an empty entry", () => {
  const configured = account();
  const none = { ...module, setup: [] };
  expect(changeFor(none, { values: new Map(), asked: [], configured }).entries).toEqual([
    { path: ["channels", "mail"], before: undefined, after: {} },
  ]);
});
