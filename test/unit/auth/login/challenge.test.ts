import { expect, test } from "vitest";
import { readChallenge } from "../../../../src/auth/login/challenge.ts";

test.each([
  [
    'Bearer resource_metadata="https://h/.well-known/x", scope="a b"',
    { resourceMetadata: "https://h/.well-known/x", scopes: ["a", "b"], error: undefined },
  ],
  [
    'bearer error="insufficient_scope",scope="w", error_description="say \\"please\\", now"',
    { resourceMetadata: undefined, scopes: ["w"], error: "insufficient_scope" },
  ],
  ["Bearer", { resourceMetadata: undefined, scopes: [], error: undefined }],
  ['Basic realm="x", Bearer scope="y"', { resourceMetadata: undefined, scopes: ["y"], error: undefined }],
  ['Bearer scope="y", Basic scope="z"', { resourceMetadata: undefined, scopes: ["y"], error: undefined }],
  ['Bearer scope="a", scope="b"', { resourceMetadata: undefined, scopes: ["a"], error: undefined }],
  [
    'Bearer scope="y", Basic realm="x", Bearer resource_metadata="https://h/m", scope="z"',
    { resourceMetadata: "https://h/m", scopes: ["z"], error: undefined },
  ],
  ['Negotiate YWJj, Bearer scope="y"', { resourceMetadata: undefined, scopes: ["y"], error: undefined }],
  ['Basic realm="Bearer"', undefined],
  ['Negotiate, Digest qop="auth"', undefined],
  [undefined, undefined],
  ["", undefined],
])("%s", (header, expected) => expect(readChallenge(header)).toEqual(expected));
