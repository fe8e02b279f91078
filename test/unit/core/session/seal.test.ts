import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSealer, type SessionClaims } from "../../../../src/core/session/seal.ts";

const claims: SessionClaims = {
  key: "k-1",
  principal: "token:abc",
  endpoint: "/p/research",
  account: "token:abc",
  protocolVersion: "2025-06-18",
  capabilities: { sampling: {}, roots: { listChanged: true } },
  info: { name: "client", version: "1.0", title: "Client" },
  issued: 1_700_000_000_000,
};

describe("sealed session ids", () => {
  it("give back what was sealed, in visible ASCII and bounded length", () => {
    const sealer = createSealer("secret", "127.0.0.1:3000");
    const id = sealer.seal(claims);
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(id.length).toBeLessThan(400);
    expect(sealer.open(id)).toEqual(claims);
    expect(createSealer("secret", "127.0.0.1:3000").open(id)).toEqual(claims);
  });

  it("keep the account of a client without a token", () => {
    const sealer = createSealer("secret", "");
    const open = { ...claims, principal: "", account: "192.0.2.7" };
    expect(sealer.open(sealer.seal(open))).toEqual(open);
  });

  it("are different each time and show nothing of their content", () => {
    const sealer = createSealer("secret", "");
    expect(sealer.seal(claims)).not.toBe(sealer.seal(claims));
    expect(Buffer.from(sealer.seal(claims), "base64url").toString("latin1")).not.toContain("token:abc");
  });

  it("are not opened with another key or for another endpoint", () => {
    const id = createSealer("secret", "a:1").seal(claims);
    expect(createSealer("secret!", "a:1").open(id)).toBeUndefined();
    expect(createSealer("secret", "a:2").open(id)).toBeUndefined();
  });

  it("are not opened when a single bit was changed", () => {
    const sealer = createSealer("secret", "");
    const bytes = Buffer.from(sealer.seal(claims), "base64url");
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const forged = Buffer.from(bytes);
        forged[bit >> 3]! ^= 1 << (bit & 7);
        expect(sealer.open(forged.toString("base64url"))).toBeUndefined();
      }),
    );
  });

  it("are not opened when they are anything else", () => {
    const sealer = createSealer("secret", "");
    for (const id of [
      "",
      "x",
      "00000000-0000-0000-0000-000000000000",
      "=".repeat(50),
      "A".repeat(5000),
      "é".repeat(80),
    ]) {
      expect(sealer.open(id)).toBeUndefined();
    }
    expect(sealer.open(`${sealer.seal(claims)}=`)).toBeUndefined();
  });

  it("stay short whatever a client says of itself", () => {
    const sealer = createSealer("secret", "");
    const noise = (bytes: number): string => randomBytes(bytes).toString("hex");
    const id = sealer.seal({
      ...claims,
      info: { name: noise(3000), version: "9", icons: noise(3000) },
      capabilities: { roots: { listChanged: true }, experimental: { x: noise(4000) }, [noise(2000)]: {} },
    });
    expect(id.length).toBeLessThanOrEqual(2048);
    const opened = sealer.open(id);
    expect(opened?.key).toBe("k-1");
    expect(opened?.info["version"]).toBe("9");
    expect(Object.keys(opened?.capabilities ?? {})).toEqual(["roots", "experimental"]);
  });
});
