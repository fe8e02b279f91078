/** Decisions of rules, also of generated ones against a simple evaluator. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { ANYONE, type Principal } from "../../../src/mcp/protocol/principal.ts";
import { loadConditions } from "../../../src/policy/conditions/condition.ts";
import { createPolicy, Policy } from "../../../src/policy/policy.ts";
import type { Item, PolicyConfig, RuleConfig } from "../../../src/policy/rule.ts";
import { principalId } from "../../../src/policy/who.ts";

beforeAll(() => loadConditions());

const SERVERS = ["github", "git", "evil", "db", "a", "b", "a-b"];
const policyOf = (config: PolicyConfig): Policy => new Policy(config, SERVERS);

function principal(written: string, more: Partial<Principal> = {}): Principal {
  return { ...ANYONE, id: principalId(written), name: "somebody", ...more };
}

function visible(policy: PolicyConfig, item: Partial<Item>, who: Principal = principal("ci")): boolean {
  const whole: Item = { kind: "tool", serverId: "github", name: "create_issue", ...item };
  return policyOf(policy).scopeOf(who).decide(whole, {}).isVisible;
}

const deny = (rule: Partial<RuleConfig>): PolicyConfig => ({ default: "allow", rules: [{ effect: "deny", ...rule }] });
const allow = (rule: Partial<RuleConfig>): PolicyConfig => ({ default: "deny", rules: [{ effect: "allow", ...rule }] });

describe("names", () => {
  test("that spell out a server are about that server alone", () => {
    for (const tools of [["github_*"], ["github_create_issue"], ["github/create_issue"], ["git*/create_*"]]) {
      expect(visible(deny({ tools }), {})).toBe(false);
      expect(visible(deny({ tools }), { serverId: "evil" })).toBe(true);
      expect(visible(allow({ tools }), { serverId: "evil", name: "github_create_issue" })).toBe(false);
    }
    expect(visible(deny({ tools: ["git_status"] }), { serverId: "git", name: "git_status" })).toBe(false);
    expect(visible(deny({ tools: ["git_status"] }), { serverId: "git", name: "status" })).toBe(false);
    expect(visible(deny({ tools: ["git_*"] }), {})).toBe(true);
  });

  test("that name no server are about all of them", () => {
    expect(visible(deny({ tools: ["create_*"] }), {})).toBe(false);
    expect(visible(deny({ tools: ["create_*"] }), { serverId: "evil" })).toBe(false);
    expect(visible(deny({ tools: ["*_create*"] }), {})).toBe(false);
    expect(visible(deny({ tools: ["*_issue"] }), {})).toBe(false);
    // The id of a server is not a part of its tools' names.
    expect(visible(allow({ tools: ["git*"] }), {})).toBe(false);
    expect(visible(allow({ tools: ["*_hub*"] }), {})).toBe(false);
  });

  test("with a server are that server's", () => {
    expect(visible(deny({ server: "github", tools: ["create_*"] }), {})).toBe(false);
    expect(visible(deny({ server: "git*", tools: ["create_*"] }), {})).toBe(false);
    expect(visible(deny({ server: ["db", "github"], tools: ["create_issue"] }), {})).toBe(false);
    expect(visible(deny({ server: "db", tools: ["create_*"] }), {})).toBe(true);
    expect(visible(deny({ server: "github", tools: ["CREATE_issue"] }), {})).toBe(true);
  });

  test("of one kind concern only that kind", () => {
    expect(visible(deny({ server: "github", prompts: ["*"] }), {})).toBe(true);
    expect(visible(deny({ server: "github", prompts: ["*"] }), { kind: "prompt" })).toBe(false);
    expect(visible(deny({ server: "github" }), { kind: "resource", name: "file:///a" })).toBe(false);
  });
});

describe("annotations", () => {
  const item = (annotations: unknown) => ({ annotations });
  test.each([
    ["@destructive", undefined, true],
    ["@destructive", { destructiveHint: false }, false],
    ["@destructive", { readOnlyHint: true }, false],
    ["@destructive", { readOnlyHint: true, destructiveHint: true }, true],
    ["@readOnly", { readOnlyHint: true }, true],
    ["@readOnly", { readOnlyHint: "true" }, false],
    ["@readOnly", { readOnlyHint: true, destructiveHint: true }, false],
    ["@readOnly", undefined, false],
    ["@readOnly", ["readOnlyHint"], false],
    ["@idempotent", undefined, false],
    ["@idempotent", { idempotentHint: true }, true],
    ["@openWorld", undefined, true],
    ["@openWorld", { openWorldHint: false }, false],
  ])("%s of %j is %s", (name, annotations, matches) => {
    expect(visible(deny({ tools: [name] }), item(annotations))).toBe(!matches);
    expect(visible(allow({ tools: [name] }), item(annotations))).toBe(matches);
  });
});

describe("who", () => {
  const idp = "https://idp.example.com";
  const cases: [RuleConfig["who"], Principal, boolean][] = [
    [undefined, ANYONE, true],
    [{ principals: ["ci"] }, principal("ci"), true],
    [{ principals: ["c*"] }, principal("ci"), true],
    [{ principals: ["ci"] }, principal("cd"), false],
    // A user may choose this name.
    [{ principals: ["ci"] }, principal(`${idp} 17`, { name: "ci" }), false],
    [{ principals: [`${idp} 17`] }, principal(`${idp} 17`), true],
    [{ principals: [`${idp} 17`] }, principal("https://other 17"), false],
    [{ principals: [`${idp} *`] }, principal(`${idp} 17 x`), true],
    [{ principals: ["*"] }, ANYONE, true],
    [{ groups: ["contractor"] }, principal(`${idp} 1`, { groups: ["staff", "contractor"] }), true],
    [{ groups: ["contractor"] }, principal("contractor"), false],
    [{ clients: ["cursor"] }, principal(`${idp} 1`, { client: "cursor" }), true],
    [{ clients: ["ci"] }, principal("ci"), true],
    // A-L2: a token and an OAuth client of one name are told apart.
    [{ clients: ["token:ci"] }, principal("ci"), true],
    [{ clients: ["token:ci"] }, principal(`${idp} 1`, { client: "ci" }), false],
    [{ clients: ["token:ci"] }, principal(`${idp} 1`, { client: "token:ci" }), false],
    [{ clients: ["oauth:ci"] }, principal(`${idp} 1`, { client: "ci" }), true],
    [{ clients: ["oauth:ci"] }, principal("ci"), false],
    [{ scopes: ["mcp:write"] }, principal(`${idp} 1`, { scopes: new Set(["mcp:write"]) }), true],
    [{ scopes: ["mcp:write"] }, principal("ci"), false],
    [{ groups: ["a"], scopes: ["b"] }, principal(`${idp} 1`, { groups: ["a"] }), false],
    [{ not: { groups: ["admin"] } }, principal(`${idp} 1`, { groups: ["admin"] }), false],
    [{ not: { groups: ["admin"] } }, principal(`${idp} 1`), true],
    [{ not: {} }, principal("ci"), true],
  ];
  test.each(cases)("%j concerns %j: %s", (who, given, concerned) => {
    expect(visible(deny({ who }), {}, given)).toBe(!concerned);
  });

  test("principals with the same rules share a scope, others do not", () => {
    const policy = policyOf(deny({ who: { groups: ["a"] } }));
    const [one, two, three] = [["a"], ["a", "b"], ["b"]].map((groups) => policy.scopeOf(principal("x", { groups })));
    expect(one).toBe(two);
    expect(one!.key).not.toBe(three!.key);
  });
});

describe("resources", () => {
  test.each([
    "file:///secret/a",
    "file:///public/../secret/a",
    "file:///public/%2e%2e/secret/a",
    "file:///public/%252e%252e/secret/a",
    "file:///public/..%2fsecret/a",
    "file:///public/..\\secret\\a",
    "file:////secret/a",
    "file:///./secret/a",
    "FILE:///secret/a",
    "file:///%73ecret/a",
  ])("%s is denied in every spelling", (name) => {
    expect(visible(deny({ resources: ["file:///secret/*"] }), { kind: "resource", name })).toBe(false);
    expect(visible(allow({ resources: ["file:///public/*"] }), { kind: "resource", name })).toBe(false);
  });

  test.each([
    ["https://example.com/secret", "https://x:y@example.com/secret"],
    ["https://example.com/secret", "https://example.com.:443/secret/"],
    ["https://example.com/secret", "HTTPS://EXAMPLE.COM/secret?x#y"],
    ["note://secret", "note://secret#x"],
    ["file:///Secret/*", "file://localhost/SECRET /a"],
    ["file:///café/*", "file:///cafe\u0301/a"],
    ["file:///a/%2A", "file:///a/%2a"],
  ])("a deny of %s also holds for %s (A-H2)", (pattern, name) => {
    expect(visible(deny({ resources: [pattern] }), { kind: "resource", name })).toBe(false);
  });

  test("an escaped wildcard in a pattern is a character, and a URI without end is no one's (A-H2)", () => {
    const name = "file:///public/x";
    expect(visible(allow({ resources: ["file:///public/%2A"] }), { kind: "resource", name })).toBe(false);
    const endless = `file:///%${"25".repeat(100)}41`;
    expect(visible(allow({ resources: ["file:///*"] }), { kind: "resource", name: endless })).toBe(false);
    expect(visible(deny({ resources: ["other:///*"] }), { kind: "resource", name: endless })).toBe(false);
  });

  test.each(["file:///public/a", "file:///public/a%20b", "file:///public/{+path}", "file:///public/A?x=../secret"])(
    "%s is allowed",
    (name) => {
      expect(visible(deny({ resources: ["file:///secret/*"] }), { kind: "resource", name })).toBe(true);
      expect(visible(allow({ resources: ["file:///public/*"] }), { kind: "resource", name })).toBe(true);
      expect(visible(allow({ resources: [name] }), { kind: "resource", name })).toBe(true);
    },
  );

  test("a host in capitals is allowed as it is written", () => {
    expect(visible(allow({ resources: ["note://Foo/*"] }), { kind: "resource", name: "note://Foo/1" })).toBe(true);
  });
});

test("a server of which nothing can be used is hidden", () => {
  const sees = (policy: PolicyConfig, id: string) => policyOf(policy).scopeOf(ANYONE).seesServer(id);
  expect(sees(deny({ server: "db" }), "db")).toBe(false);
  expect(sees(deny({ server: "db", when: "true" }), "db")).toBe(true);
  expect(sees(deny({ server: "db", tools: ["*"] }), "db")).toBe(true);
  expect(sees(allow({ server: "git" }), "db")).toBe(false);
  expect(sees(allow({ tools: ["db_x"] }), "db")).toBe(true);
  expect(sees(allow({ tools: ["db_x"] }), "git")).toBe(false);
  expect(sees(allow({ tools: ["@readOnly"] }), "git")).toBe(true);
});

test("no rules and allow by default are no policy", () => {
  expect(createPolicy({ default: "allow", rules: [] }, [])).toBeUndefined();
  expect(createPolicy({ default: "deny", rules: [] }, [])).toBeInstanceOf(Policy);
});

describe("generated rules", () => {
  const servers = ["a", "b", "a-b"];
  const names = ["read", "read_all", "write", "delete", "x"];
  const groups = ["g1", "g2"];
  const pattern = fc.constantFrom("*", "read*", "?rite", "delete", "read", "*_*", "@readOnly", "@destructive");
  const rule: fc.Arbitrary<RuleConfig> = fc.record(
    {
      effect: fc.constantFrom("allow" as const, "deny" as const),
      server: fc.oneof(fc.constantFrom(...servers, "*", "a*"), fc.subarray(servers, { minLength: 1 })),
      tools: fc.array(pattern, { minLength: 1, maxLength: 3 }),
      who: fc.record({ groups: fc.subarray(groups, { minLength: 1 }) }, { requiredKeys: [] }),
      when: fc.constantFrom("true", "false"),
    },
    { requiredKeys: ["effect"] },
  );
  const item = fc.record({
    kind: fc.constant("tool" as const),
    serverId: fc.constantFrom(...servers),
    name: fc.constantFrom(...names),
    annotations: fc.constantFrom({ readOnlyHint: true }, { destructiveHint: false }, undefined),
  });

  function naive(policy: PolicyConfig, { serverId, name, annotations }: Item, who: Principal): boolean {
    const regex = (glob: string) => new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
    const hints: Record<string, boolean> = {
      "@readOnly": (annotations as { readOnlyHint?: boolean } | undefined)?.readOnlyHint === true,
      "@destructive": annotations === undefined,
    };
    const matching = policy.rules.filter((each) => {
      const ids = each.server === undefined ? ["*"] : [each.server].flat();
      if (!ids.some((id) => regex(id).test(serverId))) return false;
      const isNamed = (tool: string) =>
        regex(tool).test(name) || (each.server === undefined && regex(tool).test(`_${name}`));
      if (each.tools && !each.tools.some((tool) => hints[tool] ?? isNamed(tool))) return false;
      return !each.who?.groups || each.who.groups.some((group) => who.groups.includes(group));
    });
    if (matching.some(({ effect, when }) => effect === "deny" && when === undefined)) return false;
    return policy.default === "allow" || matching.some(({ effect }) => effect === "allow");
  }

  test("decide as the simple evaluator does, in every order", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("allow" as const, "deny" as const),
        fc.array(rule, { maxLength: 8 }),
        fc.array(item, { minLength: 1, maxLength: 6 }),
        fc.subarray(groups),
        (fallback, rules, items, own) => {
          const who = principal("x", { groups: own });
          const policy = { default: fallback, rules };
          const scope = policyOf(policy).scopeOf(who);
          const reversed = policyOf({ default: fallback, rules: rules.toReversed() }).scopeOf(who);
          for (const each of items) {
            const expected = naive(policy, each, who);
            expect(scope.decide(each, {}).isVisible).toBe(expected);
            expect(reversed.decide(each, {}).isVisible).toBe(expected);
            if (expected) expect(scope.seesServer(each.serverId)).toBe(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
