/** The attributes of the network that no test with a real socket reaches. */
import { expect, test } from "vitest";
import { addressOf, arrivalOf, routeTo } from "../../../../src/observe/otel/network.ts";

const remote = (url: string) => routeTo({ kind: "http", url, headers: {} } as Parameters<typeof routeTo>[0]);

test("a server's address has no brackets, and its port is the scheme's own by default", () => {
  expect(remote("https://[2001:db8::1]/mcp")).toMatchObject({ "server.address": "2001:db8::1", "server.port": 443 });
  expect(remote("http://example.test/mcp")).toMatchObject({ "server.address": "example.test", "server.port": 80 });
  expect(remote("nowhere")).not.toHaveProperty("server.address");
});

test("a client's address is told only where it is one, and of clients without a token", () => {
  expect(addressOf({ principal: "", account: "192.0.2.1" })).toBe("192.0.2.1");
  for (const account of ["", "stdio", "api", "2001:db8:0:0::/64"]) {
    expect(addressOf({ principal: "", account }), account).toBeUndefined();
  }
  expect(addressOf({ principal: "192.0.2.1", account: "192.0.2.1" })).toBeUndefined();
});

test("a principal that is called stdio did not come through a pipe", () => {
  expect(arrivalOf({ principal: "stdio", account: "stdio" })).toMatchObject({ "network.transport": "tcp" });
});
