import { expect, test } from "vitest";
import { isPrivateAddress } from "../../../../src/lib/text/private-address.ts";

test.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.31.255.255",
  "192.168.0.1",
  "198.19.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:8.8.8.8",
  "::ffff:7f00:1",
  "fd00::1",
  "fe80::1",
  "ff02::1",
  "fe80::1%eth0",
  "64:ff9b::127.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b:1::a9fe:a9fe",
  "2002:7f00:1::",
  "2002:c0a8:101::1",
])("%s is private", (address) => expect(isPrivateAddress(address)).toBe(true));

test.each([
  "8.8.8.8",
  "93.184.215.14",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.1.1",
  "2606:2800:220:1::1",
  "2001:4860:4860::8888",
  "example.com",
  "127.0.0.1.example.com",
  "64:ff9b::808:808",
  "2002:808:808::1",
])("%s is not", (address) => expect(isPrivateAddress(address)).toBe(false));
