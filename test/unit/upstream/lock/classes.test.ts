/** Classes and effects of changes, as literals. */
import { describe, expect, test } from "vitest";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { type Definition, emptyLists } from "../../../../src/upstream/catalog/definitions.ts";
import type { Change } from "../../../../src/upstream/lock/change.ts";
import { driftOf } from "../../../../src/upstream/lock/drift.ts";
import { effectOf } from "../../../../src/upstream/lock/effect.ts";
import type { LockedServer } from "../../../../src/upstream/lock/lock-file.ts";
import { surfaceOf } from "../../../../src/upstream/lock/surface.ts";
import {
  brief,
  defaults,
  drifts,
  type Fields,
  listed,
  nothingFound,
  tool,
  withSchema,
} from "../../../fixtures/lock.ts";

describe("a changed tool", () => {
  const cases: [what: string, after: Fields, classes: string[], effect: string][] = [
    ["another title", { ...tool, title: "Send it" }, ["wording title"], "pinned"],
    ["icons", { ...tool, icons: [{ src: "a.png" }] }, ["wording icons"], "pinned"],
    ["another description", { ...tool, description: "Sends two." }, ["wording description"], "pinned"],
    ["_meta", { ...tool, _meta: { a: 1 } }, ["wording _meta"], "pinned"],
    [
      "a new parameter",
      withSchema((s) => {
        s.properties["bcc"] = { type: "string" };
      }),
      ["widening inputSchema.properties.bcc"],
      "pinned",
    ],
    [
      "a new required parameter",
      withSchema((s) => {
        s.properties["bcc"] = {};
        s.required.push("bcc");
      }),
      ["widening inputSchema.properties.bcc", "wording inputSchema.properties.bcc"],
      "pinned",
    ],
    [
      "a removed parameter",
      withSchema((s) => void delete s.properties["count"]),
      ["narrowing inputSchema.properties.count"],
      "listed",
    ],
    [
      "a parameter that became required",
      withSchema((s) => void s.required.push("kind")),
      ["wording inputSchema.properties.kind"],
      "pinned",
    ],
    [
      "a parameter that became optional",
      withSchema((s) => void s.required.pop()),
      ["widening inputSchema.properties.to"],
      "pinned",
    ],
    [
      "a wider enum",
      withSchema((s) => {
        s.properties["kind"] = { enum: ["mail", "chat", "sms"] };
      }),
      ["widening inputSchema.properties.kind.enum"],
      "pinned",
    ],
    [
      "a narrower enum",
      withSchema((s) => {
        s.properties["kind"] = { enum: ["mail"] };
      }),
      ["wording inputSchema.properties.kind.enum"],
      "pinned",
    ],
    [
      "an enum in another order",
      withSchema((s) => {
        s.properties["kind"] = { enum: ["chat", "mail"] };
      }),
      ["wording inputSchema.properties.kind.enum"],
      "pinned",
    ],
    [
      "no enum",
      withSchema((s) => {
        s.properties["kind"] = {};
      }),
      ["widening inputSchema.properties.kind.enum"],
      "pinned",
    ],
    [
      "a const",
      withSchema((s) => {
        s.properties["kind"] = { const: "mail" };
      }),
      ["widening inputSchema.properties.kind.enum", "wording inputSchema.properties.kind.const"],
      "pinned",
    ],
    [
      "a wider type",
      withSchema((s) => {
        s.properties["count"]!["type"] = "number";
      }),
      ["widening inputSchema.properties.count.type"],
      "pinned",
    ],
    [
      "a nullable type",
      withSchema((s) => {
        s.properties["count"]!["type"] = ["integer", "null"];
      }),
      ["widening inputSchema.properties.count.type"],
      "pinned",
    ],
    [
      "a higher minimum",
      withSchema((s) => {
        s.properties["count"]!["minimum"] = 5;
      }),
      ["wording inputSchema.properties.count.minimum"],
      "pinned",
    ],
    [
      "a lower minimum",
      withSchema((s) => {
        s.properties["count"]!["minimum"] = 0;
      }),
      ["widening inputSchema.properties.count.minimum"],
      "pinned",
    ],
    [
      "a longer text",
      withSchema((s) => {
        s.properties["to"]!["maxLength"] = 99;
      }),
      ["widening inputSchema.properties.to.maxLength"],
      "pinned",
    ],
    [
      "a pattern",
      withSchema((s) => {
        s.properties["to"]!["pattern"] = "^a";
      }),
      ["wording inputSchema.properties.to.pattern"],
      "pinned",
    ],
    [
      "a default",
      withSchema((s) => {
        s.properties["to"]!["default"] = "eve@example.com";
      }),
      ["wording inputSchema.properties.to.default"],
      "pinned",
    ],
    [
      "words about a parameter",
      withSchema((s) => {
        s.properties["to"]!["description"] = "Everybody";
      }),
      ["wording inputSchema.properties.to.description"],
      "pinned",
    ],
    [
      "no further parameters",
      withSchema((s) => {
        s["additionalProperties"] = false;
      }),
      ["narrowing inputSchema.additionalProperties"],
      "listed",
    ],
    [
      "an unknown keyword",
      withSchema((s) => {
        s["x-scope"] = "all";
      }),
      ["widening inputSchema.x-scope"],
      "pinned",
    ],
    [
      "alternatives",
      withSchema((s) => {
        s["anyOf"] = [{ required: ["to"] }];
      }),
      ["widening inputSchema.anyOf"],
      "pinned",
    ],
    [
      "no schema",
      { ...tool, inputSchema: {} },
      [
        "widening inputSchema.type",
        "narrowing inputSchema.properties.to",
        "narrowing inputSchema.properties.kind",
        "narrowing inputSchema.properties.count",
      ],
      "pinned",
    ],
    [
      "a write that was a read",
      { ...tool, annotations: { readOnlyHint: false, openWorldHint: false } },
      ["widening annotations.readOnlyHint"],
      "hidden",
    ],
    [
      "no hints any more",
      { ...tool, annotations: {} },
      ["widening annotations.readOnlyHint", "widening annotations.openWorldHint"],
      "hidden",
    ],
    [
      "an open world",
      { ...tool, annotations: { readOnlyHint: true } },
      ["widening annotations.openWorldHint"],
      "hidden",
    ],
    [
      "a claim to destroy nothing",
      { ...tool, annotations: { ...(tool["annotations"] as Fields), destructiveHint: false } },
      ["widening annotations.destructiveHint"],
      "pinned",
    ],
    [
      "a title of people",
      { ...tool, annotations: { ...(tool["annotations"] as Fields), title: "x" } },
      ["wording annotations.title"],
      "pinned",
    ],
    ["an output schema", { ...tool, outputSchema: { type: "object" } }, ["wording outputSchema"], "pinned"],
  ];

  test.each(cases)("%s", (_what, after, classes, effect) => {
    const [drift, ...more] = drifts({ tools: [tool] }, { tools: [after] });
    expect(more).toEqual([]);
    expect(drift!.changes.map((change: Change) => `${change.class} ${change.path}`)).toEqual(classes);
    expect(effectOf(drift!, defaults)).toBe(effect);
    const seen = listed({ tools: [tool] }, { tools: [after] });
    expect(seen).toEqual(effect === "hidden" ? [] : [effect === "pinned" ? tool : after]);
    // Without enforcement, everything is listed as the server has it.
    expect(effectOf(drift!, undefined)).toBe("listed");
  });

  test("whose numbers are only written differently is worded differently", () => {
    const text = (number: string): Definition => {
      const json = `{"name":"a","inputSchema":{"maximum":${number}}}`;
      return { text: json, value: JSON.parse(json) as Fields };
    };
    const surface = (number: string): LockedServer => ({
      ...finish(surfaceOf({ lists: { ...emptyLists, tools: [text(number)] }, instructions: undefined })),
      source: {},
    });
    const sides = { approved: surface("9007199254740993"), current: surface("9007199254740992"), scan: nothingFound };
    expect(brief(finish(driftOf(sides)))).toEqual(["tool a changed wording pinned"]);
  });

  test.each([
    ["a number that JavaScript rounds", '"maximum":9007199254740993', '"maximum":9007199254740992'],
    ["a key that comes twice", '"description":"Good"', '"description":"Evil","description":"Good"'],
  ])("is held for %s, also behind a parameter that is gone (A-H6)", (_what, before, after) => {
    const surface = (json: string): LockedServer => {
      const definition: Definition = { text: json, value: JSON.parse(json) as Fields };
      const lists = { ...emptyLists, tools: [definition] };
      return { ...finish(surfaceOf({ lists, instructions: undefined })), source: {} };
    };
    const approved = surface(`{"name":"a","inputSchema":{${before},"properties":{"b":{}}}}`);
    const current = surface(`{"name":"a","inputSchema":{${after},"properties":{}}}`);
    const [drift] = finish(driftOf({ approved, current, scan: nothingFound }));
    expect(drift!.changes.map((change) => change.class)).toEqual(["narrowing", "wording"]);
    expect(effectOf(drift!, defaults)).toBe("pinned");
  });
});
