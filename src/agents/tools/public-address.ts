/**
 * Tells public addresses from those of the machine itself, its network, and reserved ranges.
 *
 * The special IPv4 ranges are those of IANA's registries (RFC 6890 and its successors). For IPv6, only globally allocated
 * ranges count as public, so all forms of an IPv4 address in IPv6 (mapped, compatible, NAT64, 6to4, Teredo) are excluded.
 */
import { BlockList, isIP } from "node:net";

const NOT_PUBLIC_V4: readonly (readonly [net: string, prefix: number])[] = [
  ["0.0.0.0", 8], // this host
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT; metadata of Alibaba Cloud
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the host of an Azure machine
  ["169.254.0.0", 16], // link-local; metadata of most clouds
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments; metadata of Oracle Cloud
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
];

/** Everything allocated so far. */
const PUBLIC_V6 = ["2000::", 3] as const;

const NOT_PUBLIC_V6: readonly (readonly [net: string, prefix: number])[] = [
  ["2001::", 23], // protocol assignments, Teredo, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4
  ["3fff::", 20], // documentation
];

const notPublic = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V4) notPublic.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of NOT_PUBLIC_V6) notPublic.addSubnet(net, prefix, "ipv6");
const allocated = new BlockList();
allocated.addSubnet(...PUBLIC_V6, "ipv6");

/** False for anything that is not an address, and for addresses with a zone. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, "ipv4");
    case 6:
      if (address.includes("%")) return false;
      return allocated.check(address, "ipv6") && !notPublic.check(address, "ipv6");
    default:
      return false;
  }
}
