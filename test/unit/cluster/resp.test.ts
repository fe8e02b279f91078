import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeCommand, ReplyError, ReplyParser } from "../../../src/cluster/redis/resp.ts";

describe("Redis's protocol", () => {
  it("encodes commands by the length of their bytes", () => {
    expect(encodeCommand(["SET", "ä", 7])).toBe("*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$1\r\n7\r\n");
  });

  it("reads replies, in whatever pieces they arrive", () => {
    const text = Buffer.from("+OK\r\n:42\r\n$4\r\na\r\nb\r\n$-1\r\n*2\r\n$1\r\na\r\n*-1\r\n-ERR no\r\n");
    const expected = ["OK", 42, "a\r\nb", null, ["a", null], new ReplyError("ERR no")];
    expect(new ReplyParser().push(text)).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const parser = new ReplyParser();
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const replies = places.slice(1).flatMap((end, i) => parser.push(text.subarray(places[i], end)));
        expect(replies).toEqual(expected);
      }),
    );
  });

  it("refuses what is no reply, or longer than any of ours", () => {
    for (const wrong of ["HTTP/1.1 400\r\n", "$x\r\n", "$99999999999\r\n", "*2000000\r\n", "*1\r\n".repeat(9)])
      expect(() => new ReplyParser().push(Buffer.from(wrong)), wrong).toThrow(/./);
    const endless = new ReplyParser();
    expect(() => {
      for (let i = 0; i < 20; i++) endless.push(Buffer.alloc(1024 * 1024, "+"));
    }).toThrow("a reply is too long");
  });
});
