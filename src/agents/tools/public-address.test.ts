import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isPublicAddress } from "./public-address.ts";

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "93.184.215.14",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
  "2a00:1450:4001:82a::200e",
  "2001:4860:4860::8888",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.7",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ["nothing", "::"],
  ["loopback", "::1"],
  ["IPv4, mapped", "::ffff:127.0.0.1"],
  ["IPv4, mapped, in hex", "::ffff:7f00:1"],
  ["IPv4, mapped, even of a public one", "::ffff:8.8.8.8"],
  ["IPv4, compatible", "::127.0.0.1"],
  ["IPv4, translated", "::ffff:0:127.0.0.1"],
  ["NAT64", "64:ff9b::7f00:1"],
  ["NAT64 of the network", "64:ff9b:1::a00:1"],
  ["6to4", "2002:7f00:1::"],
  ["Teredo", "2001:0:53aa:64c:0:0:80ff:fffe"],
  ["benchmarks", "2001:2::1"],
  ["ORCHID", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["newer documentation", "3fff::1"],
  ["discard", "100::1"],
  ["private", "fd00::1"],
  ["metadata of AWS", "fd00:ec2::254"],
  ["link-local", "fe80::1"],
  ["link-local with a zone", "fe80::1%eth0"],
  ["a zone on a public one", "2a00:1450::1%eth0"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
  ["not given out", "4000::1"],
])("%s, %s, is not public", (_, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["", "localhost", "1", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "[::1]", "8.8.8.8 "])(
  "%j is no address",
  (address) => {
    expect(isPublicAddress(address)).toBe(false);
  },
);

test("no IPv4 address becomes public by being written in IPv6", () => {
  const prefixes = ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"];
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom(...prefixes), (address, prefix) => {
      expect(isPublicAddress(prefix + address)).toBe(false);
    }),
  );
});
