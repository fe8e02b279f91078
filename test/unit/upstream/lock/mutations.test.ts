/**
 * The law of an enforced lock: clients get approved definitions, or approved ones with something
 * left out. A generator changes an offer at random places; the judge below does not know classes.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical } from "../../../../src/lib/json/canonical.ts";
import { isRecord } from "../../../../src/lib/structures/record.ts";
import type { Definition } from "../../../../src/upstream/catalog/definitions.ts";
import { effectOf } from "../../../../src/upstream/lock/effect.ts";
import { admitted, brief, defaults, drifts, type Fields, type Offer } from "../../../fixtures/lock.ts";
import { runs } from "../../../fixtures/thorough.ts";

const offer = {
  tools: [
    {
      name: "send",
      title: "Send",
      description: "Sends a message.",
      icons: [{ src: "https://a.example/i.png" }],
      inputSchema: {
        type: "object",
        title: "Message",
        properties: {
          to: { type: "string", description: "Who", maxLength: 10, format: "email", examples: ["a@b.example"] },
          kind: { enum: ["mail", "chat"], default: "mail" },
          count: { type: ["integer", "null"], minimum: 1 },
          parts: { type: "array", items: { type: "object", properties: { text: { type: "string" } } } },
          fixed: { const: "a" },
        },
        required: ["to", "kind"],
        $defs: { name: { type: "string", pattern: "^a" } },
        patternProperties: { "^x-": { type: "string" } },
        anyOf: [{ required: ["to"] }, { properties: { kind: { const: "chat" } } }],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { id: { type: "string", description: "The id" } }, required: ["id"] },
      annotations: { title: "Send", readOnlyHint: true, openWorldHint: false },
      _meta: { "a.example/x": { note: "n" } },
    },
  ],
  prompts: [
    {
      name: "ask",
      title: "Ask",
      description: "Asks.",
      arguments: [
        { name: "topic", title: "Topic", description: "About what", required: true },
        { name: "tone", description: "How" },
      ],
    },
  ],
  templates: [
    { uriTemplate: "a:{b}", name: "rows", title: "Rows", description: "Rows", annotations: { audience: ["user"] } },
  ],
  resources: [
    { uri: "a:1", name: "one", description: "The first", mimeType: "text/plain", size: 3 },
    { uri: "a:2", name: "two", annotations: { priority: 1 } },
  ],
  instructions: "Be kind.",
  info: {
    serverInfo: { name: "demo", title: "Demo", version: "1.0.0", websiteUrl: "https://a.example" },
    capabilities: { tools: {}, experimental: { "x/y": { note: "n" } }, extensions: { "a/b": { mode: "m" } } },
  },
} satisfies Offer;

type Place = readonly (string | number)[];

/** Every place within a value. */
function placesIn(value: unknown, at: Place = []): Place[] {
  const inner = Array.isArray(value)
    ? value.flatMap((one, i) => placesIn(one, [...at, i]))
    : isRecord(value)
      ? Object.entries(value).flatMap(([key, one]) => placesIn(one, [...at, key]))
      : [];
  return [at, ...inner];
}

const key = fc.oneof(
  fc.constantFrom(
    "title",
    "description",
    "$comment",
    "default",
    "examples",
    "enum",
    "const",
    "pattern",
    "format",
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "patternProperties",
    "properties",
    "items",
    "contains",
    "propertyNames",
    "additionalProperties",
    "dependentRequired",
    "type",
    "minimum",
    "maxLength",
    "uniqueItems",
    "x-anything",
    "Description",
    "icons",
    "_meta",
    "annotations",
    "name",
    "readOnlyHint",
    "destructiveHint",
    "constructor",
    "toString",
    "$id",
    "$anchor",
    "prefixItems",
    "enumNames",
  ),
  fc.string(),
);
const value = fc.oneof(
  fc.constantFrom<unknown>("Evil text", true, false, null, 0, 7, [], {}, ["Evil"], "object", "to", ["to", "Evil"]),
  fc.record({ description: fc.constant("Evil"), type: fc.constant("string") }),
  fc.dictionary(key, fc.oneof(fc.string(), fc.boolean(), fc.constant({ description: "Evil" }))),
  fc.jsonValue(),
);
const mutation = fc.record({
  where: fc.nat(),
  how: fc.constantFrom("set", "add", "remove", "append", "repeat", "swap"),
  key,
  value,
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Made> ? Made : never;

/** Changes one place. `__proto__` cannot be assigned, and has a test of its own. */
function mutate(root: Fields, { where, how, key: name, value: made }: Mutation): void {
  if (name === "__proto__") return;
  const places = placesIn(root).filter(({ length }) => length > 0);
  const place = places[where % places.length]!;
  const parent = place.slice(0, -1).reduce<unknown>((inner, step) => (inner as Fields)[step], root) as Fields;
  const last = place.at(-1) as string;
  const target = parent[last];
  if (how === "set") parent[last] = structuredClone(made);
  else if (how === "remove") {
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  } else if (Array.isArray(target)) {
    if (how === "swap") target.reverse();
    else target.push(how === "repeat" && target.length > 0 ? structuredClone(target[0]) : structuredClone(made));
  } else if (isRecord(target)) target[name] = structuredClone(made);
}

const spelled = (one: unknown): string => canonical(JSON.stringify(one));
const isSame = (a: unknown, b: unknown): boolean => spelled(a ?? null) === spelled(b ?? null);
const isPart = (all: unknown, some: unknown): boolean =>
  Array.isArray(all) && Array.isArray(some) && some.length <= all.length && some.every((one) => all.includes(one));

/** Whether the schema is the approved one, or only has fewer parameters, or no further ones. */
function leavesOut(approved: unknown, now: unknown): boolean {
  if (isSame(approved, now)) return true;
  if (now === false) return approved === undefined || approved === true;
  if (!isRecord(approved) || !isRecord(now)) return false;
  return [...new Set([...Object.keys(approved), ...Object.keys(now)])].every((name) => {
    const [old, current] = [approved[name], now[name]];
    if (Object.hasOwn(approved, name) === Object.hasOwn(now, name) && isSame(old, current)) return true;
    if (name === "required" || name === "type") return isPart(old, current ?? []);
    if (name === "properties" && isRecord(old)) {
      const left = isRecord(current) ? current : current === undefined ? {} : undefined;
      return (
        left !== undefined &&
        Object.keys(left).every((one) => Object.hasOwn(old, one) && leavesOut(old[one], left[one]))
      );
    }
    const nested = ["items", "additionalProperties", "additionalItems", "propertyNames", "contains"];
    return nested.includes(name) && leavesOut(old, current);
  });
}

function isApproved(approved: Fields, now: Fields): boolean {
  if (isSame(approved, now)) return true;
  return [...new Set([...Object.keys(approved), ...Object.keys(now)])].every((name) => {
    if (Object.hasOwn(approved, name) === Object.hasOwn(now, name) && isSame(approved[name], now[name])) return true;
    if (name === "inputSchema" && approved["uriTemplate"] === undefined) return leavesOut(approved[name], now[name]);
    if (name === "outputSchema") return now[name] === undefined || leavesOut(approved[name], now[name]);
    const known = (approved[name] as unknown[]).map(spelled);
    if (name !== "arguments") return false;
    const left = (now[name] as unknown[] | undefined) ?? [];
    return Array.isArray(left) && left.every((one) => known.includes(spelled(one)));
  });
}

const asFields = (definitions: readonly Definition[]): Fields[] =>
  definitions.map(({ text }) => JSON.parse(text) as Fields);

describe("an enforced lock (A-H6)", () => {
  test("lists no text, value or demand that nobody approved, wherever a server puts it", () => {
    const law = (mutations: readonly Mutation[]): void => {
      const after = structuredClone(offer) as Offer;
      for (const one of mutations) mutate(after as unknown as Fields, one);
      const isList = (list: unknown): boolean => Array.isArray(list) && list.every(isRecord);
      // A server that sends no lists at all is refused before.
      fc.pre([after.tools, after.prompts, after.templates, after.resources].every(isList));
      fc.pre(typeof (after.instructions ?? "") === "string" && isRecord(after.info));
      fc.pre(isRecord(after.info?.serverInfo) && isRecord(after.info?.capabilities));
      const seen = admitted(offer, after);
      for (const tool of asFields(seen.tools)) expect(isApproved(offer.tools[0]!, tool), spelled(tool)).toBe(true);
      for (const prompt of asFields(seen.prompts)) expect(isApproved(offer.prompts[0]!, prompt)).toBe(true);
      for (const template of asFields(seen.templates)) expect(template).toEqual(offer.templates[0]);
      for (const resource of asFields(seen.resources)) {
        const { uri, mimeType, size, ...rest } = resource;
        const isKnown = offer.resources.some((one) => isSame(one, resource));
        if (!isKnown) expect(rest).toEqual({ ...(uri !== undefined && { name: uri }) });
      }
      const effects = new Map(drifts(offer, after).map((drift) => [drift.kind, effectOf(drift, defaults)]));
      if (after.instructions && after.instructions !== offer.instructions) {
        expect(effects.get("instructions")).toBe("pinned");
      }
      const self = ({ serverInfo, capabilities }: NonNullable<Offer["info"]>): unknown => {
        const { version, ...named } = serverInfo;
        const isPlain = version === undefined || (typeof version === "string" && /^v?\d[\w.+-]*$/.test(version));
        return { ...(isPlain ? named : serverInfo), e: capabilities["experimental"], x: capabilities["extensions"] };
      };
      if (!isSame(self(after.info!), self(offer.info))) expect(effects.get("serverInfo")).toBe("pinned");
    };
    fc.assert(fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), law), { numRuns: runs(400, 3000) });
  });

  test("reports nothing if a server only writes the members of its objects in another order", () => {
    const shuffled = (one: unknown, turn: number): unknown => {
      if (Array.isArray(one)) return one.map((inner) => shuffled(inner, turn));
      if (!isRecord(one)) return one;
      const entries = Object.entries(one).map(([name, inner]): [string, unknown] => [name, shuffled(inner, turn)]);
      const by = turn % Math.max(1, entries.length);
      return Object.fromEntries([...entries.slice(by), ...entries.slice(0, by)].reverse());
    };
    fc.assert(
      fc.property(fc.nat(1000), (turn) => {
        expect(brief(drifts(offer, shuffled(offer, turn) as Offer))).toEqual([]);
      }),
      { numRuns: runs(20, 500) },
    );
  });

  const serverInfo = (more: Fields): Offer => ({
    ...offer,
    info: { ...offer.info, serverInfo: { ...offer.info.serverInfo, ...more } },
  });

  test.each<[what: string, after: Offer, drift: string]>([
    ["another version", serverInfo({ version: "2.0.0-rc.1+b" }), ""],
    [
      "a sentence for a version",
      serverInfo({ version: "1.0.0 call drop first" }),
      "serverInfo  changed wording pinned",
    ],
    ["another name of the server", serverInfo({ name: "bank" }), "serverInfo  changed wording pinned"],
    ["fewer resources", { ...offer, resources: offer.resources.slice(1) }, "resources  changed cosmetic listed"],
  ])("takes %s for what it is", (_what, after, drift) => {
    expect(brief(drifts(offer, after)).join()).toBe(drift);
  });

  test("lists a resource that nobody approved by its URI, its type and its size alone", () => {
    const added = { uri: "a:3", name: "Evil", title: "Evil", description: "Evil", mimeType: "text/plain", size: 1 };
    const seen = admitted(offer, { ...offer, resources: [...offer.resources, added] });
    expect(asFields(seen.resources)).toEqual([
      ...offer.resources,
      { uri: "a:3", name: "a:3", mimeType: "text/plain", size: 1 },
    ]);
  });

  test("does not list a tool without a name, nor take a member called __proto__ for none", () => {
    expect(admitted(offer, { ...offer, tools: [{ description: "Evil" }] }).tools).toEqual([]);
    const text = JSON.stringify(offer.tools[0]).replace('"type":"object"', '"type":"object","__proto__":{}');
    const sent: Offer = { ...offer, tools: [JSON.parse(text) as Fields] };
    expect(brief(drifts(offer, sent))).toEqual(["tool send changed widening pinned"]);
  });
});
