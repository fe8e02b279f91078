import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { LiveConfig } from "../../../src/config/live-config.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { TrustedProxies } from "../../../src/front/trusted-proxies.ts";

const read = (trustedProxies: readonly string[]) =>
  parseConfig(JSON.stringify({ mcpServers: {}, gateway: { trustedProxies } }), { file: "test.json", env: {} }).config;
const proxies = new TrustedProxies(new LiveConfig(read(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])));
const at = (remoteAddress: string | undefined) => Object.assign(new EventEmitter(), { remoteAddress }) as Socket;
const seen = (remote: string | undefined, headers: Record<string, string>, by = proxies) =>
  by.networkOf(at(remote), { header: (name) => headers[name] });
const xff = (value: string) => ({ "x-forwarded-for": value });
const forwarded = (value: string) => ({ forwarded: value });

test.each([
  ["a proxy names its client", "10.1.2.3", xff("192.0.2.7"), "192.0.2.7"],
  ["over a socket that takes both kinds", "::ffff:10.1.2.3", xff("192.0.2.7"), "192.0.2.7"],
  ["through two proxies", "127.0.0.1", xff("192.0.2.7, 10.9.9.9"), "192.0.2.7"],
  ["what the client wrote itself is not reached", "10.1.2.3", xff("203.0.113.1, 192.0.2.7"), "192.0.2.7"],
  ["with ports and brackets", "10.1.2.3", xff("[2001:db8:1:2::9]:4711"), "2001:db8:1:2::/64"],
  ["with a port", "10.1.2.3", xff("192.0.2.7:4711"), "192.0.2.7"],
  ["an IPv4 address in IPv6 form", "10.1.2.3", xff("::ffff:192.0.2.7"), "192.0.2.7"],
  ["a chain of proxies only", "10.1.2.3", xff("10.5.5.5, 10.6.6.6"), "10.5.5.5"],
  ["what is no address ends the chain", "10.1.2.3", xff("192.0.2.7, unknown, 10.6.6.6"), "10.6.6.6"],
  ["nothing but nonsense", "10.1.2.3", xff(" , ;x"), "10.1.2.3"],
  ["an empty header", "10.1.2.3", xff(""), "10.1.2.3"],
  ["no header", "10.1.2.3", {}, "10.1.2.3"],
  ["the standard header", "10.1.2.3", forwarded("for=192.0.2.7;proto=https;by=10.1.2.3"), "192.0.2.7"],
  ["its quoted form", "10.1.2.3", forwarded('For="[2001:db8:1:2::9]:80", for=10.6.6.6'), "2001:db8:1:2::/64"],
  ["an open quote of the client", "10.1.2.3", forwarded('for="x, for="[2001:db8::1]"'), "10.1.2.3"],
  ["its hidden names", "10.1.2.3", forwarded("for=_hidden"), "10.1.2.3"],
  ["both headers, if they agree", "10.1.2.3", { ...xff("192.0.2.7"), ...forwarded("for=192.0.2.7") }, "192.0.2.7"],
  ["neither, if they do not", "10.1.2.3", { ...xff("192.0.2.7"), ...forwarded("for=203.0.113.1") }, "10.1.2.3"],
  ["headers of anybody else", "192.0.2.7", xff("203.0.113.1"), "192.0.2.7"],
  ["headers of an IPv6 client", "2001:db8::1", xff("203.0.113.1"), "2001:db8:0:0::/64"],
  ["an IPv6 proxy", "fd00::1", xff("203.0.113.1"), "203.0.113.1"],
  ["a socket without an address", undefined, xff("203.0.113.1"), ""],
] as const)("%s", (_, remote, headers, network) => {
  expect(seen(remote, headers)).toBe(network);
});

test("without proxies in the config, no header counts; a reload changes that", () => {
  const config = new LiveConfig(read([]));
  const live = new TrustedProxies(config);
  const socket = at("127.0.0.1");
  const now = () => live.networkOf(socket, { header: (name) => xff("192.0.2.7")[name as "x-forwarded-for"] });
  expect(now()).toBe("127.0.0.1");
  config.replace(read(["127.0.0.0/8"]));
  expect(now()).toBe("192.0.2.7");
  config.replace(read([]));
  expect(now()).toBe("127.0.0.1");
});

test("a very long chain costs little", () => {
  expect(seen("10.1.2.3", xff(`203.0.113.1, ${"10.6.6.6, ".repeat(100)}10.6.6.6`))).toBe("10.6.6.6");
});
