/**
 * Logins at servers, shared by replicas with a state folder each: one login, one renewal for all.
 */
import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { LoginStore } from "../../../src/auth/login/store.ts";
import { disposeAll } from "../../fixtures/dispose.ts";
import { logIn, targetOf } from "../../fixtures/logins.ts";
import { until } from "../../fixtures/peers.ts";
import { hasProgram, type RunningRedis } from "../../fixtures/redis.ts";
import { echo, isReady, replicasWithLogins } from "../../fixtures/replicas-with-logins.ts";

afterEach(disposeAll);

/** All that Redis holds, as text. */
function dump({ url }: RunningRedis): string {
  const cli = (...words: string[]) =>
    execFileSync("redis-cli", ["-u", url, "--no-auth-warning", ...words], { encoding: "utf8" });
  const keys = cli("KEYS", "*").trim().split("\n");
  const read = { string: ["GET"], hash: ["HGETALL"], set: ["SMEMBERS"], zset: ["ZRANGE"] } as Record<string, string[]>;
  return keys
    .map((key) => {
      const type = cli("TYPE", key).trim();
      return key + cli(...(read[type] ?? ["GET"]), key, ...(type === "zset" ? ["0", "-1"] : []));
    })
    .join("\n");
}

describe.skipIf(!hasProgram("redis-server"))("logins of replicas", () => {
  it("one login serves all, and each end of a token is one renewal, however many replicas need it", async () => {
    const { redis, oidc, guarded, grants, envs, replicas } = await replicasWithLogins();
    const { all } = replicas;
    const login = await logIn(envs[1]!, targetOf(guarded.url), oidc);
    await until(() => all.every(isReady), { what: "every replica to use the login" });
    for (let round = 1; round <= 4; round++) {
      guarded.expire();
      const answers = await Promise.all(all.flatMap((one) => [echo(one), echo(one)]));
      expect(answers.filter((answer) => !answer.includes("hi"))).toEqual([]);
      expect(grants).toEqual(["authorization_code good", ...Array(round).fill("refresh_token good")]);
    }
    const text = dump(redis);
    expect(text).toContain("book:logins:values");
    for (const secret of [login.accessToken, login.refreshToken!, login.client.clientId, guarded.url, "remote"])
      expect(text).not.toContain(secret);
  });

  it("A-H3: the issuer that has a client secret is known to all", async () => {
    const { envs } = await replicasWithLogins();
    const pinned = { "https://crm.example/mcp goblin": "https://issuer.example" };
    await (await LoginStore.open(envs[1]!)).change((book) => ({ ...book, issuers: pinned }));
    const others = await Promise.all([LoginStore.open(envs[0]!), LoginStore.open(envs[2]!)]);
    for (const store of others) {
      await until(async () => Object.keys((await store.read()).issuers).length > 0, { what: "the issuer" });
      expect((await store.read()).issuers).toEqual(pinned);
    }
  });
});
