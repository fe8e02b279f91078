import { expect, test } from "vitest";
import { networkOf } from "../../../src/front/network.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["2001:db8::", "2001:db8:0:0::/64"],
  ["fe80::1:2:3:4%eth0", "fe80:0:0:0::/64"],
  ["", ""],
])("a client at %j counts under %j", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
