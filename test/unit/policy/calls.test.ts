/** What a call's arguments are judged by, and what the server gets of them. */
import { beforeAll, describe, expect, test } from "vitest";
import { ANYONE } from "../../../src/mcp/protocol/principal.ts";
import { admit } from "../../../src/policy/arguments/admit.ts";
import { loadConditions } from "../../../src/policy/conditions/condition.ts";
import { Policy } from "../../../src/policy/policy.ts";
import type { PolicyConfig, RuleConfig } from "../../../src/policy/rule.ts";

beforeAll(loadConditions);

const schema = { type: "object", properties: { path: {}, id: {}, options: {} } };

/** Returns the arguments that the server gets, as text, or the code of the refusal. */
function sent(policy: PolicyConfig, args: string | undefined, more = ""): string {
  const item = { kind: "tool" as const, serverId: "db", name: "run" };
  const decision = new Policy(policy, ["db"]).scopeOf(ANYONE).decide(item, {});
  const params = args === undefined ? `{"name":"run"${more}}` : `{"name":"run","arguments":${args}${more}}`;
  try {
    const result = admit({ item, decision, principal: ANYONE, params, schema, shownName: "db_run" });
    if (typeof result !== "string") return "ASK";
    return /"arguments":(.*)\}$/s.exec(result)?.[1] ?? "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const denyWhen = (when: string): PolicyConfig => ({ default: "allow", rules: [{ effect: "deny", when }] });
const allowWhen = (when: string): PolicyConfig => ({ default: "deny", rules: [{ effect: "allow", when }] });
const rule = (more: Partial<RuleConfig>): PolicyConfig => ({ default: "allow", rules: [{ effect: "allow", ...more }] });
const DENIED = "POLICY_DENIED";
const INVALID = "INVALID_PARAMS";

describe("conditions", () => {
  test.each([
    ["args.path.startsWith('/etc')", '{"path":"/etc/x"}', DENIED],
    ["args.path.startsWith('/etc')", '{"path":"/tmp"}', '{"path":"/tmp"}'],
    // What cannot be evaluated is denied.
    ["args.path.startsWith('/etc')", "{}", DENIED],
    ["args.path.startsWith('/etc')", '{"path":1}', DENIED],
    ["args.path", '{"path":"yes"}', DENIED],
    ["has(args.path) && args.path == '/etc'", "{}", "{}"],
    ["args.path.matches('(?i)drop|truncate')", '{"path":"DrOp table"}', DENIED],
    ["args.path.matches('(?i)drop|truncate')", '{"path":"select"}', '{"path":"select"}'],
    ["args.path == 'a.matches(b)'", '{"path":"x"}', '{"path":"x"}'],
    ["args.id == 9007199254740993", '{"id":9007199254740993}', DENIED],
    ["args.id == 9007199254740993", '{"id":9007199254740992}', '{"id":9007199254740992}'],
    ["args.id > 9223372036854775807", '{"id":99999999999999999999}', DENIED],
    ["args.id == 1", '{"id":1.0}', DENIED],
    ["args.__proto__ == 'x'", '{"__proto__":"x"}', DENIED],
    ["has(args.constructor)", '{"path":"x"}', '{"path":"x"}'],
    ["args.options.all(o, o > 1)", '{"options":[2,3]}', DENIED],
    ["tool.name == 'run' && tool.server == 'db'", "{}", DENIED],
    ["'staff' in who.groups", "{}", "{}"],
    ["who.id == '' && size(who.scopes) == 0", "{}", DENIED],
  ])("deny when %s, given %s: %s", (when, args, expected) => {
    expect(sent(denyWhen(when), args)).toBe(expected);
    // The opposite rule decides the opposite, except where nothing can be told.
    const isRefused = expected === DENIED;
    const canTell = !["{}", '{"path":1}', '{"path":"yes"}'].includes(args) || !isRefused || /^(tool|who)/.test(when);
    if (canTell) expect(sent(allowWhen(when), args)).toBe(isRefused ? args : DENIED);
    else expect(sent(allowWhen(when), args)).toBe(DENIED);
  });

  test.each([
    '{"path":"/tmp","path":"/etc"}',
    '{"path":"/tmp","p\\u0061th":"/etc"}',
    '{"path":"/tmp","PATH":"/etc"}',
    '{"Path":"/etc"}',
    '{"options":{"a":1,"A":2}}',
    '{"options":[{"a":1,"a":2}]}',
    '{"\u212Bx":1,"\u00E5x":2}',
    "[]",
    '"x"',
    "1",
  ])("arguments that two readers could read differently are refused: %s", (args) => {
    expect(sent(denyWhen("has(args.path) && args.path == '/etc'"), args)).toBe(INVALID);
  });

  test("another spelling of the params' own keys is refused", () => {
    expect(sent(denyWhen("false"), '{"path":"a"}', ',"Arguments":{"path":"/etc"}')).toBe(INVALID);
    expect(sent(denyWhen("false"), '{"path":"a"}', ',"NAME":"other"')).toBe(INVALID);
  });

  test("loops over large arguments are denied, not run", () => {
    const args = JSON.stringify({ options: Array.from({ length: 5000 }, (_, i) => i) });
    expect(sent(denyWhen("args.options.exists(a, args.options.exists(b, a + b == -1))"), args)).toBe(DENIED);
    expect(sent(denyWhen("args.options.exists(a, a == -1)"), args)).toBe(args);
  });

  test("a refusal tells the reason and nothing of the arguments", () => {
    const item = { kind: "tool" as const, serverId: "db", name: "run" };
    const rules = [{ id: "no-drops", effect: "deny", reason: "ask the data team", when: "bool(args.path)" } as const];
    const policy = new Policy({ default: "allow", rules }, ["db"]);
    const decision = policy.scopeOf(ANYONE).decide(item, {});
    const params = '{"name":"run","arguments":{"path":"s3cret"}}';
    const call = { item, decision, principal: ANYONE, params, schema, shownName: "db_run" };
    expect(() => admit(call)).toThrow(
      expect.objectContaining({
        message: "db_run may not be used with these arguments: ask the data team",
        data: { reason: "ask the data team" },
        problem: "the condition of no-drops could not be evaluated: bool conversion error",
      }),
    );
  });
});

describe("set", () => {
  test.each([
    [{ path: "/safe" }, '{"path":"/etc", "id": 9007199254740993 }', '{"path":"/safe", "id": 9007199254740993 }'],
    [{ path: "/safe" }, '{ "id":1.0}', '{"path":"/safe", "id":1.0}'],
    [{ path: "/safe" }, undefined, '{"path":"/safe"},"name":"run"'],
    [{ path: "/safe" }, "null", '{"path":"/safe"}'],
    [{ path: "/safe" }, '{"path":"a","path":"b"}', '{"path":"/safe","path":"/safe"}'],
    [{ path: "/safe" }, '{"p\\u0061th":"a"}', '{"p\\u0061th":"/safe"}'],
    [{ path: "/safe" }, '{"PATH":"/etc"}', INVALID],
    [{ path: "/safe" }, '{"\u017Fafe":1}', '{"path":"/safe","\u017Fafe":1}'],
    [{ "options.owner": "acme" }, '{"options":{"owner":"x", "n":1e2}}', '{"options":{"owner":"acme", "n":1e2}}'],
    [{ "options.owner": "acme" }, "{}", '{"options":{"owner":"acme"}}'],
    [{ "options.owner": "acme" }, '{"options":null}', '{"options":{"owner":"acme"}}'],
    [{ "options.owner": "acme" }, '{"options":[]}', INVALID],
    [{ "options.owner": "acme" }, '{"options":"x"}', INVALID],
    [{ "options.owner": "acme" }, '{"options":{},"options":{"owner":"x"}}', INVALID],
    [{ "options.owner": "acme" }, '{"options":{"Owner":"x"}}', INVALID],
    [{ "/a.b": 1 }, '{"a.b":2}', '{"a.b":1}'],
    [{ __proto__x: 1 }, '{"__proto__":{"x":1}}', '{"__proto__x":1,"__proto__":{"x":1}}'],
    [{ path: null }, '{"path":1}', '{"path":null}'],
    [{ path: "x" }, "[]", INVALID],
  ])("%j of %s gives %s", (set, args, expected) => {
    expect(sent(rule({ set }), args)).toBe(expected);
  });

  test("of the first rule decides", () => {
    const rules: RuleConfig[] = [
      { effect: "allow", set: { path: "a" } },
      { effect: "allow", set: { path: "b", id: 1 } },
    ];
    expect(sent({ default: "allow", rules }, "{}")).toBe('{"id":1,"path":"a"}');
  });
});

describe("hide", () => {
  test.each([
    [["path"], '{"path":"a" , "id":1.0}', '{ "id":1.0}'],
    [["path"], '{"id":1.0, "path":"a" }', '{"id":1.0}'],
    [["path"], '{"path":"a"}', "{}"],
    [["path"], '{"path":"a","x":1,"p\\u0061th":"b"}', '{"x":1}'],
    [["path"], '{"Path":"a"}', INVALID],
    [["options.owner"], '{"options":{"owner":1,"n": 2}}', '{"options":{"n": 2}}'],
    [["options.owner"], '{"options":[{"owner":1},{"n":2}, 3]}', '{"options":[{},{"n":2}, 3]}'],
    [["options.owner"], '{"options":"x"}', '{"options":"x"}'],
    [["options.owner"], '{"options":{},"options":{"owner":1}}', INVALID],
    [["path"], undefined, "none"],
  ])("%j of %s gives %s", (hide, args, expected) => {
    expect(sent(rule({ hide }), args)).toBe(expected);
  });
});

describe("asks", () => {
  const rules = (...given: Partial<RuleConfig>[]): PolicyConfig => ({
    default: "allow",
    rules: given.map((one) => ({ effect: "ask", ...one })),
  });
  const strict = (...given: Partial<RuleConfig>[]): PolicyConfig => ({ ...rules(...given), default: "deny" });
  const isX = "args.path == 'x'";
  test.each<[PolicyConfig, string, string]>([
    [rules({}), "{}", "ASK"],
    [rules({ when: isX }), '{"path":"x"}', "ASK"],
    [rules({ when: isX }), '{"path":"y"}', '{"path":"y"}'],
    // A condition that cannot be evaluated asks.
    [rules({ when: isX }), "{}", "ASK"],
    // Deny beats ask beats allow, in any order.
    [rules({ effect: "allow" }, {}, { effect: "deny", when: isX }), '{"path":"x"}', DENIED],
    [rules({ effect: "allow" }, {}), "{}", "ASK"],
    [rules({ effect: "allow", ask: false }, {}), "{}", "{}"],
    [rules({}, { effect: "allow", ask: false, when: isX }), '{"path":"x"}', '{"path":"x"}'],
    [rules({}, { effect: "allow", ask: false, when: isX }), '{"path":"y"}', "ASK"],
    [rules({}, { effect: "allow", ask: false, when: isX }), "{}", "ASK"],
    [rules({}, { effect: "allow", ask: false }, { effect: "deny", when: isX }), '{"path":"x"}', DENIED],
    // Where nothing is allowed by default, an ask opens what it matches.
    [strict({}), "{}", "ASK"],
    [strict({ when: isX }), '{"path":"x"}', "ASK"],
    [strict({ when: isX }), '{"path":"y"}', DENIED],
    [strict({ when: isX }, { effect: "allow" }), '{"path":"y"}', '{"path":"y"}'],
    // What two readers could understand differently is no question.
    [rules({}), '{"path":1,"path":2}', INVALID],
    [rules({}), '{"path":1,"\\u0070ath":2}', INVALID],
    [rules({}), '{"Path":1}', INVALID],
  ])("%j with %s", (policy, args, outcome) => {
    expect(sent(policy, args)).toBe(outcome);
  });
});
