/** A connection may carry requests of several clients: a proxy's does. */
import { expect, test } from "vitest";
import { Credentials } from "../../../../src/auth/identity/credentials.ts";

const named = (token: string) => ({ token, admin: false });
const auth = { tokens: [], clients: { ann: named("a".repeat(40)), bob: named(`${"a".repeat(39)}b`) } };

test("each request on a connection is of the client whose token it carries", async () => {
  const credentials = new Credentials({ auth, admin: { tokens: [] } }, { now: Date.now, refused: () => {} });
  const connection = {};
  const askedWith = async (token: string | undefined) => {
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const header = (name: string) => (name === "authorization" ? authorization : undefined);
    const found = await credentials.identify({ method: "POST", path: "/mcp", header, connection });
    return found.ok ? found.principal.name : found.why;
  };
  const { ann, bob } = auth.clients;
  const order = [ann.token, ann.token, bob.token, ann.token, undefined, bob.token, `${bob.token}c`, bob.token, ""];
  const names = [];
  for (const token of order) names.push(await askedWith(token));
  expect(names).toEqual(["ann", "ann", "bob", "ann", "missing", "bob", "invalid", "bob", "missing"]);
});
