/** What a principal sees at an endpoint: profiles, patterns, and what a reload changes. */
import { describe, expect, test } from "vitest";
import { Access } from "../../../../src/auth/access/access.ts";
import { endpointFor, endpointOf } from "../../../../src/auth/access/endpoints.ts";
import { LiveConfig } from "../../../../src/config/live-config.ts";
import { parseConfig } from "../../../../src/config/reading/parse.ts";
import type { Config } from "../../../../src/config/schema/config.ts";
import { ANYONE, EVERYWHERE, type VisibleEntry } from "../../../../src/mcp/protocol/principal.ts";

function configOf(profiles: object, more: object = {}): Config {
  const mcpServers = { web: { command: "web" }, db: { command: "db" }, "io.x/notes": { command: "notes" } };
  const text = JSON.stringify({ mcpServers, profiles, ...more });
  return parseConfig(text, { file: "goblin.json", env: {} }).config;
}

const entry = (name: string, more: Partial<VisibleEntry> = {}): VisibleEntry => ({
  serverId: "web",
  kind: "tool",
  name,
  definition: {},
  ...more,
});

function visibilityIn(profile: object) {
  return new Access(new LiveConfig(configOf({ p: profile }))).placeOf("/p/p", ANYONE)!.visibility!;
}

describe("an endpoint", () => {
  test("has one spelling", () => {
    expect(endpointOf("/mcp", "/mcp")).toBe("");
    expect(endpointOf("/mcp/", "/mcp")).toBe("");
    expect(endpointOf("/mcp/p/a", "/mcp")).toBe("/p/a");
    expect(endpointOf("/mcp/p/%61/", "/mcp")).toBe("/p/a");
    expect(endpointOf("/sse/s/io.x%2Fnotes", "/sse")).toBe(endpointFor("s", "io.x/notes"));
    for (const path of ["/mcp2", "/mcp/p", "/mcp/p/", "/mcp/x/a", "/mcp/p/a/b", "/mcp/p/%E0%A4%A", "/mcp//p/a"]) {
      expect(endpointOf(path, "/mcp"), path).toBeUndefined();
    }
  });

  test("exists if its profile or server does", () => {
    const access = new Access(new LiveConfig(configOf({ a: {} })));
    expect(access.placeOf("", ANYONE)).toBe(EVERYWHERE);
    expect(access.placeOf("/p/a", ANYONE)?.endpoint).toBe("/p/a");
    expect(access.placeOf(endpointFor("s", "io.x/notes"), ANYONE)?.visibility?.server).toBe("io.x/notes");
    for (const endpoint of ["/p/b", "/s/none", "/p/constructor"])
      expect(access.placeOf(endpoint, ANYONE)).toBeUndefined();
  });
});

describe("a profile", () => {
  test("matches the servers' own names, and a slash names a server", () => {
    const { shows, showsServer } = visibilityIn({
      servers: ["web", "io*"],
      tools: { allow: ["get_*", "io.x/notes/*", "web/put"], deny: ["*_secret"] },
    });
    expect(["web", "db", "io.x/notes"].map(showsServer)).toEqual([true, false, true]);
    expect(shows(entry("get_it"))).toBe(true);
    expect(shows(entry("get_secret"))).toBe(false);
    expect(shows(entry("put"))).toBe(true);
    expect(shows(entry("put", { serverId: "io.x/notes" }))).toBe(true);
    expect(shows(entry("other"))).toBe(false);
    expect(shows(entry("web/put"))).toBe(false);
    expect(shows(entry("anything", { kind: "prompt" }))).toBe(true);
  });

  test("matches URIs as they are", () => {
    const { shows } = visibilityIn({ resources: { allow: ["file:///*"], deny: ["file:///etc/*"] } });
    const uri = (name: string) => shows(entry(name, { kind: "resource" }));
    expect(["file:///a/b", "file:///etc/passwd", "web/file:///a"].map(uri)).toEqual([true, false, false]);
    expect(shows(entry("file:///{path}", { kind: "template" }))).toBe(true);
  });

  test("matches what tools say of themselves; one that says nothing is destructive", () => {
    const hints = (annotations?: object) => entry("x", { definition: annotations ? { annotations } : {} });
    const shownBy = (pattern: string, annotations?: object) =>
      visibilityIn({ tools: { allow: [pattern] } }).shows(hints(annotations));
    expect(shownBy("@readOnly", { readOnlyHint: true })).toBe(true);
    expect(shownBy("@readOnly", {})).toBe(false);
    expect(shownBy("@destructive")).toBe(true);
    expect(shownBy("@destructive", { destructiveHint: false })).toBe(false);
    expect(shownBy("@destructive", { readOnlyHint: true })).toBe(false);
    const both = { readOnlyHint: true, destructiveHint: true };
    expect(["@readOnly", "@destructive", "@idempotent"].map((name) => shownBy(name, both))).toEqual([
      false,
      true,
      false,
    ]);
    expect(shownBy("@idempotent", { idempotentHint: true })).toBe(true);
    expect(shownBy("@openWorld", { openWorldHint: false })).toBe(false);
    expect(shownBy("@openWorld")).toBe(true);
  });

  test("has the same key with the same content, and only then", () => {
    const [one, same, other] = [{ servers: ["web"] }, { servers: ["web"] }, { servers: ["db"] }].map(visibilityIn);
    expect(one!.key).toBe(same!.key);
    expect(one!.key).not.toBe(other!.key);
  });
});

describe("a principal", () => {
  const clients = { ci: { token: "a-token-of-ci-000000", profile: ["a", "b"] } };
  const ci = { ...ANYONE, id: "client:ci", name: "ci" };

  test("with profiles sees their union at /mcp, and only their endpoints", () => {
    const profiles = { a: { servers: ["web"] }, b: { servers: ["db"], expose: "search" }, c: {} };
    const access = new Access(new LiveConfig(configOf(profiles, { gateway: { auth: { clients } } })));
    const { visibility } = access.placeOf("", ci)!;
    expect(visibility).toMatchObject({ profile: "a,b", expose: undefined });
    expect(["web", "db", "io.x/notes"].map((id) => visibility!.showsServer(id))).toEqual([true, true, false]);
    expect(access.placeOf("/p/b", ci)?.visibility?.expose).toBe("search");
    expect(access.placeOf("/s/web", ci)?.visibility?.showsServer("db")).toBe(false);
    for (const endpoint of ["/p/c", "/p/none", endpointFor("s", "io.x/notes")]) {
      expect(access.placeOf(endpoint, ci)).toBeUndefined();
    }
    // Somebody else's id that only looks alike.
    expect(access.placeOf("", { ...ci, id: "https://idp\u001fclient:ci" })).toBe(EVERYWHERE);
  });

  test("gets its place anew when the config changes, and loses it with its profile", () => {
    const live = new LiveConfig(configOf({ a: { servers: ["web"] }, b: {} }));
    const access = new Access(live);
    const changes: string[] = [];
    access.on("changed", () => changes.push("changed"));
    const follower = (endpoint: string) => ({
      endpoint,
      who: ANYONE,
      info: {},
      visibility: access.placeOf(endpoint, ANYONE)?.visibility,
      close: () => changes.push(`closed ${endpoint}`),
    });
    const [a, b] = [follower("/p/a"), follower("/p/b")];
    const before = a.visibility!.key;
    for (const one of [a, b]) access.follow(one);
    live.replace(configOf({ a: { servers: ["db"] } }));
    expect(changes).toEqual(["closed /p/b", "changed"]);
    expect(a.visibility!.key).not.toBe(before);
    expect(a.visibility!.showsServer("web")).toBe(false);
  });
});
