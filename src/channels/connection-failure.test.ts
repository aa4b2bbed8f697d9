import { expect, test } from "vitest";

import { connectionFailure } from "./connection-failure.ts";

function withCode(code: string): Error {
  return Object.assign(new Error("it broke"), { code });
}

test.each([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
])("%s comes before the request, so nothing was sent", (code) => {
  expect(connectionFailure("shop", new TypeError("fetch failed", { cause: withCode(code) }))).toMatchObject({
    code: "delivery_failed",
    message: expect.stringContaining(code),
    transient: true,
  });
});

test.each([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "NEVER_HEARD_OF",
])("%s may come after the request, so nobody knows", (code) => {
  expect(connectionFailure("shop", new TypeError("fetch failed", { cause: withCode(code) }))).toMatchObject({
    code: "delivery_uncertain",
  });
});

test("where all addresses of a name were tried, what happened is inside once more", () => {
  const each = new AggregateError([withCode("ECONNREFUSED"), withCode("ENETUNREACH")]);
  const error = connectionFailure("shop", new TypeError("fetch failed", { cause: each }));
  expect(error.code).toBe("delivery_failed");
});

test("what has no code, or is no error at all, is uncertain", () => {
  expect(connectionFailure("shop", new Error("?")).code).toBe("delivery_uncertain");
  expect(connectionFailure("shop", "?").code).toBe("delivery_uncertain");
});
