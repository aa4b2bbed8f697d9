import { isIP } from "node:net";
import { expect, test } from "vitest";

import { EVERYTHING } from "../../../test/support/tool-context.ts";
import { findDestination, parseUrl } from "./web-destination.ts";

/** What is asked of the resolver, and what it answers: a public address, unless told. */
function resolver(answers: Readonly<Record<string, readonly string[]>> = {}) {
  const asked: string[] = [];
  return {
    asked,
    async lookup(host: string) {
      asked.push(host);
      return (answers[host] ?? ["93.184.215.14"]).map((address) => ({ address, family: isIP(address) }));
    },
  };
}

function find(url: string, hosts: readonly (readonly string[])[] = [["*"]], names = resolver()) {
  const permissions = { ...EVERYTHING, hosts };
  return findDestination(parseUrl(url), { permissions, lookup: (host) => names.lookup(host) });
}

test.each([
  ["http://example.com", "example.com", 80],
  ["https://example.com/", "example.com", 443],
  ["HTTPS://EXAMPLE.COM/A", "example.com", 443],
  ["https://example.com.", "example.com", 443],
  ["http://example.com:8080", "example.com", 8080],
  ["https://example.com:443", "example.com", 443],
  ["http://example.com:443", "example.com", 443],
  ["https://münchen.example/", "xn--mnchen-3ya.example", 443],
  ["https://例え.example/", "xn--r8jz45g.example", 443],
  ["http:example.com", "example.com", 80],
  ["http:\\\\example.com\\a", "example.com", 80],
  [" https://example.com ", "example.com", 443],
  ["https://exa\tmple.com", "example.com", 443],
  ["https://8.8.8.8/", "8.8.8.8", 443],
  ["https://134744072/", "8.8.8.8", 443],
  ["https://[2001:4860:4860::8888]:8443/", "2001:4860:4860::8888", 8443],
])("%s leads to %s, port %d", async (url, host, port) => {
  expect(await find(url)).toMatchObject({ host, port });
});

test.each([
  ["loopback", "http://127.0.0.1/"],
  ["another loopback", "http://127.8.8.8/"],
  ["loopback with a dot", "http://127.0.0.1./"],
  ["loopback, short", "http://127.1/"],
  ["loopback, shorter", "http://127.0.1/"],
  ["loopback, decimal", "http://2130706433/"],
  ["loopback, hex", "http://0x7f000001/"],
  ["loopback, hex and short", "http://0x7f.1/"],
  ["loopback, hex by parts", "http://0x7f.0x0.0x0.0x1/"],
  ["loopback, capital hex", "http://0X7F.1/"],
  ["loopback, octal", "http://0177.0.0.1/"],
  ["loopback, octal with more zeros", "http://00000177.0.0.01/"],
  ["loopback, octal, whole", "http://017700000001/"],
  ["loopback, mixed", "http://0x7f.0.1/"],
  ["loopback, full-width digits", "http://１２７.０.０.１/"],
  ["loopback, ideographic dots", "http://127。0。0。1/"],
  ["loopback, circled digits", "http://①②⑦.0.0.1/"],
  ["loopback, percent-encoded", "http://%31%32%37.0.0.1/"],
  ["loopback, with a port", "http://127.0.0.1:8080/"],
  ["loopback, by https", "https://127.0.0.1/"],
  ["nothing", "http://0.0.0.0/"],
  ["nothing, short", "http://0/"],
  ["nothing, hex", "http://0x0/"],
  ["private", "http://10.0.0.1/"],
  ["private, decimal", "http://167772161/"],
  ["private, 172", "http://172.16.5.4/"],
  ["private, 192", "http://192.168.1.1/"],
  ["private, short", "http://192.168.257/"],
  ["carrier-grade NAT", "http://100.64.0.1/"],
  ["metadata", "http://169.254.169.254/latest/meta-data/"],
  ["metadata, decimal", "http://2852039166/"],
  ["metadata, hex", "http://0xA9FEA9FE/"],
  ["metadata, octal", "http://0251.0376.0251.0376/"],
  ["metadata of Alibaba", "http://100.100.100.200/"],
  ["metadata of Azure", "http://168.63.129.16/"],
  ["multicast", "http://224.0.0.1/"],
  ["broadcast", "http://255.255.255.255/"],
  ["reserved", "http://240.0.0.1/"],
  ["documentation", "http://192.0.2.1/"],
  ["benchmarks", "http://198.18.0.1/"],
  ["IPv6 loopback", "http://[::1]/"],
  ["IPv6 loopback, long", "http://[0:0:0:0:0:0:0:1]/"],
  ["IPv6 nothing", "http://[::]/"],
  ["IPv4 mapped", "http://[::ffff:127.0.0.1]/"],
  ["IPv4 mapped, hex", "http://[::ffff:7f00:1]/"],
  ["IPv4 mapped, long", "http://[0:0:0:0:0:ffff:127.0.0.1]/"],
  ["IPv4 mapped metadata", "http://[::ffff:169.254.169.254]/"],
  ["IPv4 compatible", "http://[::127.0.0.1]/"],
  ["IPv4 translated", "http://[::ffff:0:127.0.0.1]/"],
  ["NAT64", "http://[64:ff9b::127.0.0.1]/"],
  ["6to4", "http://[2002:7f00:1::]/"],
  ["Teredo", "http://[2001:0:53aa:64c::1]/"],
  ["IPv6 private", "http://[fd00::1]/"],
  ["IPv6 metadata", "http://[fd00:ec2::254]/"],
  ["IPv6 link-local", "http://[fe80::1]/"],
  ["IPv6 site-local", "http://[fec0::1]/"],
  ["IPv6 multicast", "http://[ff02::1]/"],
])("%s is refused: %s", async (_, url) => {
  const names = resolver();
  await expect(find(url, [["*"]], names)).rejects.toMatchObject({
    code: "host_forbidden",
    message: expect.stringContaining("is not on the public internet"),
  });
  expect(names.asked).toEqual([]);
});

test.each([
  ["localhost", ["127.0.0.1"]],
  ["localhost", ["::1"]],
  ["sub.localhost", ["127.0.0.1"]],
  ["metadata.google.internal", ["169.254.169.254"]],
  ["127.0.0.1.nip.example", ["127.0.0.1"]],
  ["intranet", ["10.1.2.3"]],
  ["half.example", ["93.184.215.14", "10.1.2.3"]],
  ["mapped.example", ["::ffff:10.1.2.3"]],
  ["zone.example", ["fe80::1%eth0"]],
])("the name %s is refused where it leads to %j", async (host, addresses) => {
  const names = resolver({ [host]: addresses });
  for (const spelling of [host, `${host}.`, host.toUpperCase()]) {
    await expect(find(`http://${spelling}/`, [["*"]], names)).rejects.toMatchObject({
      code: "host_forbidden",
      message: expect.stringContaining(addresses.at(-1)!),
    });
  }
});

test.each([
  "ftp://example.com/",
  "file:///etc/passwd",
  "data:text/html,hello",
  "javascript:alert(1)",
  "gopher://example.com/",
  "ws://example.com/",
  "blob:https://example.com/1",
  "about:blank",
  "https://user@example.com/",
  "https://user:secret@example.com/",
  "https://:secret@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1\\@example.com:x@1/",
  "http://./",
])("%s is not fetched", async (url) => {
  await expect(async () => find(url)).rejects.toMatchObject({
    code: expect.stringMatching(/^(tool_input_invalid|host_forbidden)$/),
  });
});

test.each([
  "",
  "example.com",
  "/page",
  "//example.com",
  "http://",
  "http://[::1",
  "http://[fe80::1%25eth0]/",
  "http://exa mple.com",
  "http://256.256.256.256/",
  "http://1.2.3.4.5/",
  "http://example.com:65536/",
  "http://example.com:-1/",
  "http://example.com:a/",
  "http://a%00b.example/",
  "http://exa<mple.com/",
])("%j is no URL", (url) => {
  expect(() => parseUrl(url)).toThrow(expect.objectContaining({ code: "tool_input_invalid" }));
});

test("a password in a URL is not repeated in the error", async () => {
  await expect(find("https://user:hunter2@example.com/")).rejects.toMatchObject({
    message: expect.not.stringContaining("hunter2"),
  });
});

test("a host must be allowed by every list, and is not looked up before", async () => {
  const names = resolver();
  const lists = [["*.example.com", "example.org"], ["*"]];
  expect(await find("https://docs.example.com/", lists, names)).toMatchObject({ host: "docs.example.com" });
  expect(await find("https://EXAMPLE.ORG./", lists, names)).toMatchObject({ host: "example.org" });
  for (const host of ["example.com", "evil.com", "example.com.evil.com", "evil.com/example.org"]) {
    await expect(find(`https://${host}`, lists, names)).rejects.toMatchObject({
      code: "host_forbidden",
      hint: expect.stringContaining("permissions.hosts"),
    });
  }
  await expect(find("https://docs.example.com/", [...lists, []], names)).rejects.toMatchObject({
    code: "host_forbidden",
  });
  expect(names.asked).toEqual(["docs.example.com", "example.org"]);
});

test("a host of the own network is reached where every list names it in full", async () => {
  const names = resolver({ "nas.local": ["192.168.1.5"], "a.nas.local": ["192.168.1.6"] });
  expect(await find("http://nas.local/", [["*", "nas.local"]], names)).toMatchObject({
    addresses: [{ address: "192.168.1.5", family: 4 }],
  });
  expect(await find("http://127.1/", [["127.0.0.1"]], names)).toMatchObject({ host: "127.0.0.1" });
  expect(await find("http://[0::1]/", [["[::1]"]], names)).toMatchObject({ host: "::1" });

  for (const hosts of [[["*"]], [["*.local"]], [["nas.local"], ["*"]], [["nas.*", "a.nas.local"]], []]) {
    await expect(find("http://nas.local/", hosts, names)).rejects.toMatchObject({ code: "host_forbidden" });
  }
  await expect(find("http://a.nas.local/", [["*", "nas.local"]], names)).rejects.toMatchObject({
    code: "host_forbidden",
  });
});

test("a star in the name of a host is not the star of a pattern", async () => {
  const names = resolver({ "*.example.com": ["127.0.0.1"] });
  await expect(find("http://*.example.com/", [["*.example.com"]], names)).rejects.toMatchObject({
    code: "host_forbidden",
  });
});

test("a name without an address is an error that says so", async () => {
  const missing = { code: "tool_failed", message: 'Cannot resolve host "gone.example"' };
  await expect(find("http://gone.example/", [["*"]], resolver({ "gone.example": [] }))).rejects.toMatchObject(
    missing,
  );
  const failing = {
    asked: [],
    lookup: (): Promise<never> => Promise.reject(new Error("getaddrinfo ENOTFOUND")),
  };
  await expect(find("http://gone.example/", [["*"]], failing)).rejects.toMatchObject(missing);
});
