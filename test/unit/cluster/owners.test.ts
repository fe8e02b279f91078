import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newOwnerId, OwnerTags } from "../../../src/cluster/owners.ts";

const secret = "the secret of all replicas";
const owner = { id: "Ab3_x-9", address: "10.0.0.5:3001" };

describe("the tags of owners", () => {
  it("say who owns an id to those who have the secret", () => {
    const id = `${new OwnerTags(secret).tagOf(owner)}.the-rest.of it`;
    const tags = new OwnerTags(secret);
    expect(tags.ownerIn(id)).toEqual(owner);
    expect(tags.ownerIn(id)).toEqual(owner);
    expect(new OwnerTags(`${secret}!`).ownerIn(id)).toBeUndefined();
    expect(id).toMatch(/^[A-Za-z0-9_-]+\./);
  });

  it("begin with their format, which stays", () => {
    const tag = new OwnerTags(secret).tagOf(owner);
    const bytes = Buffer.from(tag, "base64url");
    expect(bytes[0]).toBe(1);
    bytes[0] = 2;
    expect(new OwnerTags(secret).ownerIn(`${bytes.toString("base64url")}.x`)).toBeUndefined();
    // Made by the first version: every later one must open it.
    const first = "AbyL7EjD_suMVaADZxGfpYAk5whRK5qzgTZF_HyXWclyIy6Q3lfunjiXNPievy6HCyAU2dBwUlQ";
    expect(new OwnerTags(secret).ownerIn(`${first}.x`)).toEqual(owner);
  });

  it("cannot be changed in a single bit", () => {
    const tags = new OwnerTags(secret);
    const bytes = Buffer.from(tags.tagOf(owner), "base64url");
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const forged = Buffer.from(bytes);
        forged[bit >> 3]! ^= 1 << (bit & 7);
        expect(tags.ownerIn(`${forged.toString("base64url")}.x`)).toBeUndefined();
      }),
    );
  });

  it("are unknown in anything else", () => {
    const tags = new OwnerTags(secret);
    fc.assert(fc.property(fc.string(), (text) => tags.ownerIn(text) === undefined));
    for (const text of ["", ".", "..", "AQ.", "AQAA.x", `${"A".repeat(1000)}.x`])
      expect(tags.ownerIn(text)).toBeUndefined();
  });

  it("remember no more owners than there can be", () => {
    const tags = new OwnerTags(secret);
    for (let i = 0; i < 1500; i++) {
      const one = { id: newOwnerId(), address: `10.0.0.5:${i}` };
      expect(tags.ownerIn(`${tags.tagOf(one)}.x`)).toEqual(one);
    }
  });
});
