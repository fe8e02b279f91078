import { describe, expect, test } from "vitest";
import { proxyFor } from "../../../../src/lib/http-client/proxy.ts";

const proxy = "http://proxy.example:3128";
const found = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

describe("the proxy for a URL", () => {
  test.each([
    ["https://a.example/", { HTTPS_PROXY: proxy }, `${proxy}/`],
    ["https://a.example/", { https_proxy: proxy, HTTPS_PROXY: "http://other" }, `${proxy}/`],
    ["https://a.example/", { HTTP_PROXY: proxy }, undefined],
    ["http://a.example/", { HTTP_PROXY: proxy }, `${proxy}/`],
    ["http://a.example/", { ALL_PROXY: "proxy.example:3128" }, `${proxy}/`],
    ["http://a.example/", { ALL_PROXY: "socks5://proxy.example" }, undefined],
    ["http://a.example/", { HTTP_PROXY: "" }, undefined],
    ["http://a.example/", {}, undefined],
  ])("%s with %j is %s", (url, env, expected) => {
    expect(found(url, env as Record<string, string>)).toBe(expected);
  });

  test.each(["localhost", "x.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"])(
    "%s never has one",
    (host) => {
      expect(found(`http://${host}:8080/mcp`, { HTTP_PROXY: proxy })).toBeUndefined();
    },
  );

  test.each([
    ["a.example", true],
    ["example", true],
    [".example", true],
    ["*.example", true],
    ["*", true],
    ["b.example, a.example", true],
    ["A.EXAMPLE", true],
    ["a.example:80", true],
    ["a.example:81", false],
    ["xample", false],
    ["b.a.example", false],
    ["", false],
  ])("NO_PROXY %j excludes a.example: %s", (list, isExcluded) => {
    expect(found("http://a.example/", { HTTP_PROXY: proxy, NO_PROXY: list }) === undefined).toBe(isExcluded);
  });

  test("an address is excluded only as a whole", () => {
    const env = { HTTP_PROXY: proxy, no_proxy: "10.0.0.1,[fd00::1]" };
    expect(found("http://10.0.0.1/", env)).toBeUndefined();
    expect(found("http://[fd00::1]/", env)).toBeUndefined();
    expect(found("http://110.0.0.1/", env)).toBe(`${proxy}/`);
  });
});
