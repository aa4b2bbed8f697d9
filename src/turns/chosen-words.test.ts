import { expect, test } from "vitest";

import { calls, spoken } from "../../test/support/scripted-model.ts";
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { callsOf, type ToolCall } from "../model/message.ts";
import { OWNER_PRINCIPAL, sourcePrincipal } from "../model/principal.ts";
import type { Said, ToolResult } from "../model/tool.ts";
import { NO_LABEL, NO_TRUST, type Trust } from "../model/trust.ts";
import type { StoredEvent } from "../store/store.ts";
import { hasBeenHeard, LabelAtChoice, wordsOfOwner } from "./chosen-words.ts";

const FETCH = "WebFetch";
const SEARCH = "WebSearch";
const TOOLS = new Map([
  [FETCH, { says: (params: Json): Said => ({ kind: "address", url: (params as { url: string }).url }) }],
  [SEARCH, { says: (params: Json): Said => ({ kind: "query", text: (params as { query: string }).query }) }],
]);
const fetched = (url: string): ToolCall =>
  callOf(FETCH, { url }, { text: "A page with https://a.example/linked" });
const searched = (query: string, ...leads: string[]): ToolCall =>
  callOf(SEARCH, { query }, { text: leads.join(), leads });
const found = (...leads: string[]): ToolCall => searched("q", ...leads);

function callOf(tool: string, params: Json, result: ToolResult): ToolCall {
  return { ordinal: 0, callId: "c", tool, params, status: "ok", result: { ...result }, startedAtMs: 0 };
}

const mayFetch = (
  url: string,
  messages: readonly string[],
  before: readonly ToolCall[] = [],
  calls: readonly ToolCall[] = [],
) => hasBeenHeard({ kind: "address", url }, { messages, before, calls, tools: TOOLS });
const maySearch = (text: string, ...messages: readonly string[]) =>
  hasBeenHeard({ kind: "query", text }, { messages, before: [searched("q")], calls: [], tools: TOOLS });

test("an address that the owner has written may be asked for, with nothing added and nothing left out", () => {
  const message = "Compare (https://a.example/plans?of=1#top) with b.example/plans, please.";
  expect(mayFetch("https://a.example/plans?of=1", [message])).toBe(true);
  expect(mayFetch("https://b.example/plans", [message])).toBe(true);
  for (const url of [
    "https://a.example/plans",
    "https://a.example/plans?of=12",
    "https://a.example/",
    "https://b.example/plans/secret",
    "http://b.example/plans",
    "https://secret.b.example/plans",
    "no address",
  ])
    expect([url, mayFetch(url, [message])]).toEqual([url, false]);
  expect(mayFetch("https://a.example/", ["Send it to https://a.example/{{secret}}"])).toBe(false);
});

test("an address of the owner may be asked for once a turn, whatever follows #", () => {
  const page = "https://a.example/plans";
  expect(mayFetch(page, [page], [fetched(page)])).toBe(true);
  expect(mayFetch(page, [page], [], [fetched("https://a.example/")])).toBe(true);
  expect(mayFetch(page, [page], [], [fetched(page)])).toBe(false);
  expect(mayFetch(`${page}#2`, [page], [], [fetched(`${page}#1`)])).toBe(false);
});

test("without https://, an address has a path or begins with www.", () => {
  const message = "Read notes.md, build.sh, www.a.example and b.example/plans.";
  expect(mayFetch("https://www.a.example/", [message])).toBe(true);
  expect(mayFetch("https://b.example/plans", [message])).toBe(true);
  for (const url of ["https://notes.md/", "https://build.sh/"])
    expect([url, mayFetch(url, [message])]).toEqual([url, false]);
});

test("what a search service has named may be asked for once, and links in pages may not", () => {
  const page = "https://a.example/1";
  expect(mayFetch(page, [], [found(page, "https://a.example/2")])).toBe(true);
  expect(mayFetch(`${page}?secret`, [], [found(page)])).toBe(false);
  expect(mayFetch(page, [], [found(page), fetched(page)])).toBe(false);
  expect(mayFetch(page, [], [found(page)], [fetched(page)])).toBe(false);
  expect(mayFetch("https://a.example/linked", [], [fetched(page)])).toBe(false);
  expect(
    mayFetch("https://a.example/linked", [], [{ ...found("https://a.example/linked"), tool: FETCH }]),
  ).toBe(false);
});

test("a query may be made of words of the owner, each as often as they wrote it", () => {
  expect(maySearch("Bosch drill prices", "Compare prices of the Bosch drill!")).toBe(true);
  expect(maySearch("compare bosch prices", "Compare prices of the Bosch drill!")).toBe(true);
  expect(maySearch("Makita prices", "And the Makita?", "Compare prices of the Bosch drill!")).toBe(true);
  expect(maySearch("ボッシュ", "ボッシュの値段")).toBe(true);
  expect(maySearch("of the Bosch drill!", "Compare prices of the Bosch drill!")).toBe(true);
  for (const query of [
    "Bosch 4711",
    "Bosch Bosch drill",
    "BOSCH drill",
    "Bosch  drill",
    "Bosch, drill",
    "drillprices",
    "rice",
    "of the Bosch dri",
    "!?!!?",
  ])
    expect([query, maySearch(query, "Compare prices of the Bosch drill!")]).toEqual([query, false]);
});

test("a turn may make one query of the owner's words", () => {
  const may = (...calls: readonly ToolCall[]) =>
    hasBeenHeard(
      { kind: "query", text: "drill" },
      { messages: ["Which drill?"], before: [], calls, tools: TOOLS },
    );
  expect(may(fetched("https://a.example/"))).toBe(true);
  expect(may(searched("which"))).toBe(false);
});

test("any other text is the model's own", () => {
  expect(hasBeenHeard({ kind: "text" }, { messages: ["hello"], before: [], calls: [], tools: TOOLS })).toBe(
    false,
  );
});

test("only what the owner wrote themselves is their word", () => {
  const event = { id: "http:1" as EventId, principal: OWNER_PRINCIPAL, content: "hello" } as StoredEvent;
  const heard = (change: Partial<StoredEvent>) => wordsOfOwner([{ event: { ...event, ...change } }]);
  expect(heard({})).toEqual(["hello"]);
  expect(heard({ principal: sourcePrincipal("webhook", "shop") })).toEqual([]);
  expect(heard({ label: { ...NO_LABEL, untrusted: ["document"] } })).toEqual([]);
  for (const adapter of ["agent", "cortex", "hook", "relay", "script", "team"])
    expect([adapter, ...heard({ id: `${adapter}:1` as EventId })]).toEqual([adapter]);
});

const READ_THE_WEB: Trust = { ...NO_TRUST, untrusted: ["tool:WebFetch"] };

test("calls of one answer are judged by what the session held before the first of them", () => {
  const message = spoken("m1", calls([FETCH, { url: "a" }], [FETCH, { url: "b" }]));
  const [first, second] = callsOf(message);
  const labels = new LabelAtChoice();
  expect(labels.of(first!, [message], NO_TRUST)).toEqual(NO_TRUST);
  expect(labels.of(second!, [message], READ_THE_WEB)).toEqual(NO_TRUST);

  const next = spoken("m2", calls([FETCH, { url: "c" }]));
  expect(labels.of(callsOf(next)[0]!, [message, next], READ_THE_WEB)).toEqual(READ_THE_WEB);
});

test("a call that no answer has requested is judged by what the session holds now", () => {
  const message = spoken("m1", calls([FETCH, { url: "a" }]));
  const [known] = callsOf(message);
  const labels = new LabelAtChoice();
  expect(labels.of(known!, [message], NO_TRUST)).toEqual(NO_TRUST);
  for (const other of [
    { ...known!, id: "another" },
    { ...known!, arguments: { url: "a/secret" } },
  ])
    expect(labels.of(other, [message], READ_THE_WEB)).toEqual(READ_THE_WEB);
  expect(new LabelAtChoice().of(known!, [message], READ_THE_WEB)).toEqual(READ_THE_WEB); // after a restart
});
