/** What a call's arguments are judged by, and what the server gets of them. */
import { beforeAll, describe, expect, test } from "vitest";
import { ANYONE } from "../../../src/mcp/protocol/principal.ts";
import { admit } from "../../../src/policy/arguments/admit.ts";
import { loadConditions } from "../../../src/policy/conditions/condition.ts";
import { Policy } from "../../../src/policy/policy.ts";
import type { PolicyConfig, RuleConfig } from "../../../src/policy/rule.ts";

beforeAll(() => loadConditions());

const schema = { type: "object", properties: { path: {}, id: {}, options: {} } };

const triples = (count: number) => {
  const list = Array.from({ length: count }, (_, i) => i);
  return { a: list, b: list, c: list };
};
const many = (path: string, count: number) => Array.from({ length: count }, () => ({ path, tags: ["a", "b"] }));

/** Returns the arguments that the server gets, as text, or the code of the refusal. */
function sent(policy: PolicyConfig, args: string | undefined, more = "", declared: object = schema): string {
  const item = { kind: "tool" as const, serverId: "db", name: "run" };
  const decision = new Policy(policy, ["db"]).scopeOf(ANYONE).decide(item, {});
  const params = args === undefined ? `{"name":"run"${more}}` : `{"name":"run","arguments":${args}${more}}`;
  try {
    const result = admit({ item, decision, principal: ANYONE, params, schema: declared, shownName: "db_run" });
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

  test.each([
    // A JavaScript server reads the first as the second, a Python server does not.
    ["args.id == 9007199254740992", '{"id":9007199254740993}'],
    ["args.id == 9007199254740993", '{"id":9007199254740993}'],
    ["args.options.list.exists(n, n == 9007199254740992)", '{"options":{"list":[[1],9007199254740993]}}'],
    // A program in C reads a text up to a NUL.
    ["args.path.endsWith('/passwd')", '{"path":"/etc/passwd\\u0000.txt"}'],
    // Servers decode the escapes of a URI once, several times or never.
    ["args.path.contains('/secret/')", '{"path":"file:///%73ecret/a"}'],
    ["args.path.contains('/secret/')", '{"path":"file:///open/..%2fsecret/a"}'],
    ["args.path.contains('/secret/')", '{"path":"FILE://host/%2573ecret/a"}'],
    ["args.path.contains('%73ecret')", '{"path":"file:///%73ecret/a"}'],
    [
      "args.options.list.exists(u, u.startsWith('https://evil.example/'))",
      '{"options":{"list":["HTTPS://Evil.example/x"]}}',
    ],
  ])("A-M3: a condition is asked about all that a server may read: %s, given %s", (when, args) => {
    expect(sent(denyWhen(when), args)).toBe(DENIED);
    // What one server may read as something else is not allowed either.
    expect(sent(allowWhen(when), args)).toBe(DENIED);
  });

  test.each([
    '" file:///%73ecret/a"',
    '"\\u0001file:///%73ecret/a"',
    '"fi\\nle:///%73ecret/a"',
    '"https:host/%73ecret/a"',
    '"http:\\\\\\\\host\\\\%73ecret\\\\a"',
  ])("a text that URL parsers read is a URI to a condition: %s", (path) => {
    expect(sent(denyWhen("args.path.contains('/secret/')"), `{"path":${path}}`)).toBe(DENIED);
  });

  const typed = {
    type: "object",
    properties: {
      repoName: { type: "string" },
      count: { anyOf: [{ type: "integer" }, { type: "null" }] },
      force: { $ref: "#/$defs/flag" },
      either: { type: ["integer", "string"] },
      any: { anyOf: [{ type: "integer" }, {}] },
      options: { allOf: [{ type: "object", properties: { owner: { type: "string" } } }, { description: "x" }] },
      items: { type: "array", items: { type: "object" } },
      user_id: { type: "string" },
      userId: { type: "string" },
    },
    $defs: { flag: { type: "boolean" } },
  };

  test.each([
    // Protobuf, Pydantic and others take both spellings for the same argument.
    ["has(args.repoName)", '{"repo_name":"evil"}', INVALID],
    ["args.repoName == 'evil'", '{"repoName":"good","repo_name":"evil"}', INVALID],
    ["args.repoName == 'evil'", '{"repoName":"good","repo-name":"evil"}', INVALID],
    ["args.options.?ownerId.orValue('') == 'evil'", '{"options":{"owner_id":"evil"}}', INVALID],
    ["args.options.ownerId == 'evil'", '{"options":{"ownerId":"good","owner_id":"evil"}}', INVALID],
    ["has(args.options.x)", '{"options":{"a_b":1,"ab":2}}', '{"options":{"a_b":1,"ab":2}}'],
    ["args.userId == 'evil'", '{"user_id":"evil","userId":"good"}', '{"user_id":"evil","userId":"good"}'],
    // Pydantic and others convert what is not of the declared type.
    ["args.count == 5", '{"count":"5"}', INVALID],
    ["args.count == 1", '{"count":true}', INVALID],
    ["has(args.count) && args.count == 5", '{"count":null}', '{"count":null}'],
    ["args.count == 5", '{"count":6.0}', '{"count":6.0}'],
    ["args.force", '{"force":"true"}', INVALID],
    ["args.force == true", '{"force":1}', INVALID],
    ["args.repoName == '5'", '{"repoName":5}', INVALID],
    ["has(args.options.owner)", '{"options":"{\\"owner\\":\\"evil\\"}"}', INVALID],
    ["args.options.?owner.orValue('') == 'evil'", '{"options":[{"owner":"evil"}]}', INVALID],
    ["args.items.exists(i, i.?path.orValue('') == '/etc')", '{"items":["{\\"path\\":\\"/etc\\"}"]}', INVALID],
    ["args.either == 5", '{"either":"6"}', '{"either":"6"}'],
    ["args.any == 5", '{"any":"6"}', '{"any":"6"}'],
  ])(
    "arguments have the names and types that the schema declares: deny when %s, given %s: %s",
    (when, args, expected) => {
      expect(sent(denyWhen(when), args, "", typed)).toBe(expected);
    },
  );

  test.each([
    ["args.path.startsWith('C:/Users')", '{"path":"C:/Users/a%20b"}'],
    ["args.path == 'Note: 100% DONE'", '{"path":"Note: 100% DONE"}'],
    ["args.path.startsWith('https://ok.example/')", '{"path":"https://ok.example/a%20b/./c"}'],
    ["args.id == 9007199254740992", '{"id":9007199254740992}'],
  ])("A-M3: what all servers read alike is allowed: %s, given %s", (when, args) => {
    expect(sent(allowWhen(when), args)).toBe(args);
  });

  const nested = {
    type: "object",
    properties: {
      options: { $ref: "#/$defs/options" },
      items: { type: "array", items: { anyOf: [{ properties: { path: {} } }, { type: "null" }] } },
      env: { type: "object" },
      path: {},
      tree: { $ref: "#" },
    },
    $defs: { options: { allOf: [{ properties: { owner: {}, Mode: {} } }] } },
  };

  test.each([
    ["false", '{"options":{"Owner":"evil"}}', INVALID],
    ["false", '{"options":{"OWNER":"evil"}}', INVALID],
    ["false", '{"items":[{"path":"/tmp"},{"PATH":"/etc"}]}', INVALID],
    ["false", '{"items":[[{"PATH":"/etc"}]]}', '{"items":[[{"PATH":"/etc"}]]}'],
    ["false", '{"tree":{"tree":{"Path":"/etc"}}}', INVALID],
    // Not declared here, but the rule looks for it.
    ["has(args.env.home) && args.env.home == '/etc'", '{"env":{"Home":"/etc"}}', INVALID],
    ["args.env.?home.orValue('') == '/etc'", '{"env":{"HOME":"/etc"}}', INVALID],
    ["'home' in args.env", '{"env":{"HOME":"/etc"}}', INVALID],
    ["args.env['home'] == '/etc'", '{"env":{"HOME":"/etc"}}', INVALID],
    ["args.env.list.exists(i, has(i.path))", '{"env":{"list":[{"Path":"/etc"}]}}', INVALID],
    ["has(args.env.home)", '{"env":{"home\\u0000x":"/etc"}}', INVALID],
    // The server has an argument of that very name.
    ["has(args.options.mode)", '{"options":{"Mode":1}}', '{"options":{"Mode":1}}'],
    ["has(args.path)", '{"env":{"PATH":"/bin"}}', '{"env":{"PATH":"/bin"}}'],
    ["has(args.env.home)", '{"env":{"HOMES":"/etc"}}', '{"env":{"HOMES":"/etc"}}'],
  ])("A-M3: names are compared at every depth: deny when %s, given %s: %s", (when, args, expected) => {
    expect(sent(denyWhen(when), args, "", nested)).toBe(expected);
  });

  test("A-M3: a condition on a resource is asked about every spelling of its URI", () => {
    const rules: RuleConfig[] = [{ effect: "deny", resources: ["*"], when: "args.uri.contains('/secret/')" }];
    const item = { kind: "resource" as const, serverId: "db", name: "" };
    const read = (uri: string): unknown => {
      const named = { ...item, name: uri };
      const decision = new Policy({ default: "allow", rules }, ["db"]).scopeOf(ANYONE).decideUri("db", uri);
      return admit({ item: named, decision, principal: ANYONE, params: JSON.stringify({ uri }), shownName: uri });
    };
    expect(read("x:/open/a")).toBe('{"uri":"x:/open/a"}');
    for (const uri of ["x:/%73ecret/a", "x:/open/../secret/a", "x:\\secret\\a", "x:/%2573ecret/a", "x:/./secret//a"])
      expect(() => read(uri)).toThrow(expect.objectContaining({ code: DENIED }));
  });

  test.each([
    ["args.words.exists(w, args.text.contains(w))", { words: Array(20_000).fill("zq"), text: "x".repeat(1_000_000) }],
    ["args.words.exists(w, args.text.matches(w))", { words: Array(500).fill("a+b"), text: "a".repeat(200_000) }],
    ["args.words.exists(w, w in args.list)", { words: Array(40_000).fill(1), list: Array(40_000).fill(2) }],
    ["args.a.exists(x, args.b.exists(y, args.c.exists(z, x + y + z == -1)))", triples(500)],
    ["args.text.contains(args.word)", { text: "a".repeat(400_000), word: `${"a".repeat(9e4)}b${"a".repeat(9e4)}` }],
    ["args.text.split(',').exists(w, args.text.contains(w))", { text: "abc,".repeat(100_000) }],
    ["['a', 'b'].all(p, args.list.exists(x, args.list.exists(y, p + x == y)))", { list: Array(9000).fill("q") }],
    ["args.list.exists(x, x == 1)", { list: Array(300_000).fill(2) }],
  ])("A-M8: too much work for one call is refused before it is done: %s", (when, args) => {
    expect([DENIED, INVALID]).toContain(sent(denyWhen(when), JSON.stringify(args)));
  });

  test.each([
    ["args.words.exists(w, args.text.contains(w))", { words: ["drop", "truncate"], text: "x".repeat(1_000_000) }],
    ["['/etc', '/root'].exists(p, args.path.startsWith(p))", { path: "/tmp/a", text: "x".repeat(3_000_000) }],
    ["args.path.matches('^/(etc|root)/[a-z0-9/_-]+$')", { path: "/tmp/a", text: "x".repeat(3_000_000) }],
    ["args.text.matches('(?i)drop|truncate')", { text: "x".repeat(1_000_000) }],
    ["args.list.exists(i, i.path.startsWith('/etc') || i.path in ['/root', '/var'])", { list: many("/tmp/a", 20_000) }],
    ["args.list.exists(i, i.tags.exists(t, t == args.tag))", { list: many("/tmp/a", 20_000), tag: "z" }],
    ["args.text.contains(args.word)", { text: "x".repeat(1_000_000), word: "secret" }],
  ])("A-M8: ordinary conditions over large arguments are asked: %s", (when, args) => {
    const text = JSON.stringify(args);
    expect(sent(denyWhen(when), text) === text).toBe(true);
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
    // A-M3: lists in lists.
    [["options.owner"], '{"options":[[{"owner":1}],[[{"n":1,"owner":2}]]]}', '{"options":[[{}],[[{"n":1}]]]}'],
    [["options.owner"], '{"options":[[{"Owner":1}]]}', INVALID],
    [["options.owner"], '{"options":"x"}', '{"options":"x"}'],
    // Some servers parse a text where they expect an object.
    [["options.owner"], '{"options":" {\\"owner\\":1}"}', INVALID],
    [["options.owner"], '{"options":["[{\\"owner\\":1}]"]}', INVALID],
    [["ownerName"], '{"owner_name":"a"}', INVALID],
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
