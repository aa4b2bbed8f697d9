import { expect, test } from "vitest";

import { type Addressed, allowedAddresses, checkAddresses, isLoopback } from "./guard.ts";

const addresses = allowedAddresses("Cortex.local", 4747);
const HOST = "127.0.0.1:4747";

function check(given: Partial<Addressed>): void {
  checkAddresses({ target: "/", host: [HOST], origin: undefined, ...given }, addresses);
}

test.each(["localhost:4747", "LOCALHOST:4747", "127.0.0.1:4747", "[::1]:4747", "cortex.local:4747"])(
  "the Host %s is served",
  (host) => {
    expect(() => check({ host: [host] })).not.toThrow();
  },
);

test.each([
  ["none", undefined],
  ["an empty one", [""]],
  ["another site's", ["evil.example:4747"]],
  ["another site's that begins like ours", ["localhost.evil.example:4747"]],
  ["another site's that ends like ours", ["evil-localhost:4747"]],
  ["ours with another port", ["127.0.0.1:4748"]],
  ["ours without the port", ["127.0.0.1"]],
  ["ours with a dot", ["localhost.:4747"]],
  ["ours with a user", ["evil@localhost:4747"]],
  ["a private address", ["192.168.0.7:4747"]],
  ["all addresses", ["0.0.0.0:4747"]],
  ["two", [HOST, HOST]],
])("a request with the Host %s is refused", (_, host) => {
  expect(() => check({ host })).toThrow(expect.objectContaining({ code: "origin_forbidden" }));
});

test.each([
  "http://localhost:4747",
  "http://127.0.0.1:4747",
  "http://[::1]:4747",
  "http://cortex.local:4747",
  "HTTP://LOCALHOST:4747",
])("the Origin %s is ours", (origin) => {
  expect(() => check({ origin: [origin] })).not.toThrow();
});

test.each([
  "null",
  "",
  "*",
  "file://",
  "http://localhost",
  "http://localhost:80",
  "http://localhost:4748",
  "http://localhost:47470",
  "http://localhost:4747/",
  "http://localhost:4747.evil.example",
  "http://evil.example",
  "http://evil.example:4747",
  "http://localhost.evil.example:4747",
  "http://evil.example/?http://localhost:4747",
  "http://evil@localhost:4747",
  "http://localhost:4747@evil.example",
  "https://localhost:4747",
  "ws://localhost:4747",
  "localhost:4747",
  "http://127.0.0.1:4747 http://evil.example",
  "http://127.1:4747",
  "http://0.0.0.0:4747",
  "http://[::ffff:127.0.0.1]:4747",
  "chrome-extension://abcdefghijklmnop",
])("the Origin %j is refused, and named", (origin) => {
  expect(() => check({ origin: [origin] })).toThrow(
    expect.objectContaining({
      code: "origin_forbidden",
      message: expect.stringContaining(JSON.stringify(origin)),
    }),
  );
});

test.each(["http://evil.example/", "http://127.0.0.1:4747/", "*", "evil.example:80", ""])(
  "a request for %j, as only proxies get them, is refused",
  (target) => {
    expect(() => check({ target })).toThrow(expect.objectContaining({ code: "origin_forbidden" }));
  },
);

test("on port 80, where clients leave it out, so may they here", () => {
  const usual = allowedAddresses("127.0.0.1", 80);
  for (const host of ["localhost", "localhost:80"]) {
    const given = { target: "/", host: [host], origin: [`http://${host}`] };
    expect(() => checkAddresses(given, usual)).not.toThrow();
  }
});

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.0.7", false],
  ["127.0.0.1.evil.example", false],
])("that %s is this machine only is %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
