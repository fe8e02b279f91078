/** What is the same question, and what is another one. */
import { describe, expect, test } from "vitest";
import { shownArguments } from "../../../../src/auth/approvals/shown-arguments.ts";
import { keyOf, subjectOf } from "../../../../src/auth/approvals/subject.ts";
import { visibleJson } from "../../../../src/lib/text/clean.ts";
import { ANYONE } from "../../../../src/mcp/protocol/principal.ts";
import { masked, mayHoldSecret } from "../../../../src/observe/telemetry/audit-mask.ts";

describe("the key", () => {
  const asked = { params: '{"name":"x","arguments":{"a":1}}', rule: "r", reason: undefined, revision: "1" };
  const request = {
    client: { key: "s1", hasSession: true, info: { name: "c" } },
    who: { ...ANYONE, id: "client:ada", name: "ada" },
    serverId: "web",
    kind: "tool" as "tool" | "prompt",
    name: "x",
    shownName: "web_x",
    asked,
  };
  const key = (more: Partial<typeof request> & { lock?: string } = {}): string =>
    keyOf(subjectOf({ ...request, ...more }).subject);
  const params = (text: string) => ({ asked: { ...asked, params: text } });

  test("is the same for the same call, in any session, under any name that clients see", () => {
    for (const same of [
      params('{"arguments":{ "\\u0061" : 1 },"name":"x","_meta":{"progressToken":7}}'),
      { client: { ...request.client, key: "s2" } },
      { shownName: "other_x" },
      { asked: { ...asked, rule: "renamed", reason: undefined } },
    ])
      expect(key(same)).toBe(key());
  });

  test("differs in whatever else differs", () => {
    const others = [
      params('{"name":"x","arguments":{"a":2}}'),
      params('{"name":"x","arguments":{"a":1.0}}'),
      params('{"name":"x","arguments":{"a":1,"b":null}}'),
      params('{"name":"x"}'),
      { client: { ...request.client, info: { name: "d" } } },
      { who: { ...request.who, id: "client:bob" } },
      { who: { ...request.who, client: "app" } },
      { serverId: "db" },
      { kind: "prompt" as const },
      { name: "y" },
      { asked: { ...asked, revision: "2" } },
      { lock: "sha256:1" },
    ];
    expect(new Set([key(), ...others.map((more) => key(more))]).size).toBe(others.length + 1);
  });
});

describe("what people see", () => {
  const masks = {
    json: (text: string) => text.replaceAll("hunter22", "[hidden]"),
    suspects: mayHoldSecret,
    value: masked,
  };

  test("is what was sent, without secrets", () => {
    expect(shownArguments('{"id":12345678901234567890,"x":1.0}', masks)).toBe('{"id":12345678901234567890,"x":1.0}');
    expect(shownArguments('{"id":12345678901234567890,"password":"x","y":1.0}', masks)).toBe(
      '{"id":12345678901234567890,"password":"***","y":1.0}',
    );
    expect(shownArguments('{"note":"hunter22"}', masks)).toBe('{"note":"[hidden]"}');
  });

  test("has no character that nobody sees", () => {
    const hidden = '{"a":"x\u202ey\u200b\u{e0041}\u00a0\ufe0fz"}';
    expect(visibleJson(hidden)).toBe('{"a":"x\\u202ey\\u200b\\udb40\\udc41\\u00a0\\ufe0fz"}');
    expect(JSON.parse(visibleJson(hidden))).toEqual(JSON.parse(hidden));
    expect(visibleJson('{"a":"é 漢"}')).toBe('{"a":"é 漢"}');
  });
});
