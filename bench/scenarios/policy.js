// @ts-check
// What it costs to know who calls and what they may: calls with an access token, in a profile,
// under 1 000 rules, beside the same calls to a gateway with none of that. The ratio counts.

import { createServer } from "node:http";
import * as jose from "jose";
import { compareVariants } from "../native/compare.js";

/** @typedef {import("../client.js").Era} Era */

const RULES = 1_000;
const AUDIENCE = "http://127.0.0.1/mcp";
/** What all of it may cost a call. */
const MAX_CPU = 1.1;
const MIN_ROUNDS = 9;

/** An issuer: its keys, and one token. */
async function startIssuer() {
  const { publicKey, privateKey } = await jose.generateKeyPair("ES256", { extractable: true });
  const keys = JSON.stringify({ keys: [{ ...(await jose.exportJWK(publicKey)), alg: "ES256", kid: "bench" }] });
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(keys);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const issuer = `http://127.0.0.1:${port}`;
  const token = await new jose.SignJWT({ groups: ["staff", "group_7"], scope: "mcp:use" })
    .setProtectedHeader({ alg: "ES256", kid: "bench", typ: "at+jwt" })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setSubject("bench")
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  return { issuer, token, stop: () => server.close() };
}

/** Rules of every kind; those that concern the measured call neither forbid nor change it. */
function rules() {
  return Array.from({ length: RULES }, (_, n) => {
    const kind = n % 5;
    if (kind === 0) return { effect: "deny", server: "stdio", tools: [`tool_${n}`] };
    if (kind === 1) return { effect: "deny", server: "stdio", tools: [`x${n}_*`], who: { groups: [`group_${n}`] } };
    if (kind === 2) return { effect: "deny", server: "stdio", tools: [`y${n}`], when: "args.text == 'never'" };
    if (kind === 3) return { effect: "allow", server: "stdio", tools: [`z${n}`], set: { owner: "acme" } };
    return { effect: "deny", server: "stdio", prompts: [`*_${n}`], who: { scopes: [`scope_${n}`] } };
  });
}

/** @typedef {Awaited<ReturnType<typeof startIssuer>>} Issuer */
/** @param {import("../lab.js").Lab} lab @param {Era} era @param {Issuer} given */
async function runEra({ bin, rounds, starts }, era, { issuer, token }) {
  const oauth = { issuers: [{ issuer, jwksUri: `${issuer}/keys`, audience: [AUDIENCE], requiredScopes: ["mcp:use"] }] };
  const governed = {
    gateway: { auth: { oauth } },
    profiles: { bench: { servers: ["stdio"], tools: { deny: ["w*"] } } },
    policy: { rules: rules() },
  };
  /** @param {string} url */
  const at = (url) => Object.assign(new URL(`${url}/p/bench`), { password: token }).href;
  // With several principals, each session would have a process of its own.
  const common = { era, bin, rounds, starts, share: "all" };
  const { note, of, ratio } = await compareVariants([{ settings: {} }, { settings: governed, at }], common);
  const rows = ["without", `access token, profile, ${RULES} rules`].map((path, index) => [
    path,
    era,
    of(index, "perSecond"),
    of(index, "cpuUs"),
    ratio(index, 0, "cpuUs"),
    of(index, "p50"),
    of(index, "p99"),
  ]);
  const bar = { name: `CPU under ${RULES} rules, ${era}`, value: ratio(1, 0, "cpuUs"), most: MAX_CPU };
  return { rows, bar, note };
}

/** @type {import("../run.js").Scenario} */
export const policy = {
  name: "policy",
  seconds: { full: 20, short: 0 },
  least: MIN_ROUNDS,
  async run(lab) {
    const given = await startIssuer();
    try {
      const eras = [await runEra(lab, "legacy", given), await runEra(lab, "modern", given)];
      const columns = ["calls, stdio server", "era", "calls/s", "CPU µs", "× without", "p50 ms", "p99 ms"];
      const notes = [eras[0]?.note ?? ""];
      const table = { title: "tools/call by somebody who may", columns, rows: eras.flatMap(({ rows }) => rows), notes };
      return { tables: [table], bars: eras.map(({ bar }) => bar) };
    } finally {
      given.stop();
    }
  },
};
