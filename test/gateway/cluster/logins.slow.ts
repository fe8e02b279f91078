/** Logins of replicas whose Redis stops, sleeps and comes back: no refresh token is used twice. */
import { afterEach, describe, expect, it } from "vitest";
import { disposeAll } from "../../fixtures/dispose.ts";
import { logIn, targetOf } from "../../fixtures/logins.ts";
import { until } from "../../fixtures/peers.ts";
import { hasProgram } from "../../fixtures/redis.ts";
import { echo, isReady, replicasWithLogins } from "../../fixtures/replicas-with-logins.ts";

afterEach(disposeAll);

const GOOD = ["authorization_code good", "refresh_token good"];

describe.skipIf(!hasProgram("redis-server"))("logins of replicas without Redis", () => {
  it.each([
    { what: "is killed", down: "SIGKILL" as const },
    { what: "sleeps", down: "SIGSTOP" as const },
  ])("tokens serve to their end while Redis $what, and are renewed once when it is back", async ({ down }) => {
    const { redis, oidc, guarded, grants, envs, replicas } = await replicasWithLogins();
    const { all } = replicas;
    await logIn(envs[0]!, targetOf(guarded.url), oidc);
    await until(() => all.every(isReady), { what: "every replica to use the login" });
    if (down === "SIGKILL") await redis.stop();
    else redis.signal(down);
    const isLost = () => all.every(({ gateway }) => gateway.cluster()!.redis === "lost");
    await until(isLost, { what: "the replicas to notice" });
    for (const one of all) expect(await echo(one)).toContain("hi");
    guarded.expire();
    for (const one of all) expect(await echo(one)).toContain("its login is not renewed here");
    expect(grants).toEqual(["authorization_code good"]);
    if (down === "SIGKILL") await redis.start();
    else redis.signal("SIGCONT");
    const works = async () => (await Promise.all(all.map(echo))).every((answer) => answer.includes("hi"));
    await until(works, { what: "the replicas to renew the login" });
    expect(grants).toEqual(GOOD);
  });

  it("each replica renews by itself a refresh token that is known to stay good", async () => {
    const settings = { rotateRefreshToken: false };
    const { redis, oidc, guarded, grants, envs, replicas } = await replicasWithLogins(settings);
    const { all } = replicas;
    await logIn(envs[0]!, targetOf(guarded.url), oidc);
    await until(() => all.every(isReady), { what: "every replica to use the login" });
    guarded.expire();
    for (const one of all) expect(await echo(one)).toContain("hi");
    expect(grants).toEqual(GOOD);
    await redis.stop();
    guarded.expire();
    for (const one of all) expect(await echo(one)).toContain("hi");
    expect(grants.filter((grant) => grant.endsWith("bad"))).toEqual([]);
  });

  it("what one replica got while Redis was away, the others get when it is back", async () => {
    const { redis, oidc, guarded, grants, envs, replicas } = await replicasWithLogins();
    const { all } = replicas;
    await redis.stop();
    await logIn(envs[2]!, targetOf(guarded.url), oidc);
    await until(() => isReady(all[2]!), { what: "the replica of the login to use it" });
    expect(await echo(all[0]!)).toContain("needs a login");
    await redis.start();
    await until(() => all.every(isReady), { what: "all replicas to use the login" });
    for (const one of all) expect(await echo(one)).toContain("hi");
    expect(grants).toEqual(["authorization_code good"]);
  });
});
