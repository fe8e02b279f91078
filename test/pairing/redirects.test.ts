import { expect, test } from "vitest";
import {
  isRegistered,
  redirectHost,
  redirectProblem,
  redirectSource,
  withParameters,
} from "../../src/auth/pairing/server/redirects.ts";

test.each([
  ["https://app.example/cb", undefined],
  ["https://app.example/cb?x=1", undefined],
  ["http://localhost/cb", undefined],
  ["http://127.0.0.1:99/cb", undefined],
  ["http://[::1]:99/cb", undefined],
  ["cursor://anysphere.cursor-retrieval/oauth/callback", undefined],
  ["com.example.app:/oauth", undefined],
  ["http://app.example/cb", /https/],
  ["http://127.0.0.1.evil.example/cb", /https/],
  ["http://a.localhost/cb", /https/],
  ["https://app.example/cb#x", /fragment/],
  ["https://app.example/cb#", /fragment/],
  ["https://user@app.example/cb", /user name/],
  ["javascript:alert(1)", /javascript/],
  ["JavaScript:alert(1)", /javascript/],
  ["data:text/html,x", /data/],
  // A-L9: browsers open these themselves, some of them with another URL inside.
  ["view-source:https://app.example/", /view-source/],
  ["filesystem:https://app.example/temporary/x", /filesystem/],
  ["jar:https://app.example/x.jar!/x", /jar/],
  ["chrome://settings/", /chrome/],
  ["CHROME://settings/", /chrome/],
  ["resource://gre/", /resource/],
  ["intent://scan/", /intent/],
  ["/cb", /absolute/],
  ["https://app.example/a b", /characters/],
  ["https://app.example\\@evil.example/", /characters/],
  ["https://app.example/\r\nset-cookie: x", /characters/],
  [`https://app.example/${"x".repeat(2000)}`, /long/],
])("%s", (uri, problem) => {
  const found = redirectProblem(uri);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});

test("only the port of this machine may differ", () => {
  const registered = ["http://localhost:1/cb", "http://[::1]/cb?x=1", "https://app.example:8443/cb"];
  for (const asked of ["http://localhost/cb", "http://localhost:65535/cb", "http://[::1]:7/cb?x=1"])
    expect([asked, isRegistered(registered, asked)]).toEqual([asked, true]);
  for (const asked of [
    "http://localhost:2/cb/",
    "http://localhost:2/cb?x",
    "http://127.0.0.1:1/cb",
    "https://localhost:1/cb",
    "http://localhost:1@evil.example/cb",
    "http://localhost.evil.example/cb",
    "http://localhost:2\\evil/cb",
    "https://app.example/cb",
    "https://app.example:8444/cb",
    "HTTPS://app.example:8443/cb",
    "",
  ])
    expect([asked, isRegistered(registered, asked)]).toEqual([asked, false]);
});

test("a person sees the host as it is, and a policy gets an origin", () => {
  expect(redirectHost("https://clаude.ai/cb")).toBe("xn--clude-5ve.ai");
  expect(redirectHost("myapp://x/y")).toBe("myapp:");
  expect(redirectSource("https://app.example:8443/a;b?c")).toBe("https://app.example:8443");
  expect(redirectSource("myapp:/x;script-src*")).toBe("myapp:");
  expect(withParameters("https://a.example/cb?x=1", { code: "a&b", state: undefined })).toBe(
    "https://a.example/cb?x=1&code=a%26b",
  );
});
