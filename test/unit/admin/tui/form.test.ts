import { describe, expect, it } from "vitest";
import { checkForm, editForm, type FormEdit } from "../../../../src/admin/forms/form.ts";
import { outline } from "../../../../src/admin/forms/schema-outline.ts";
import { type CallForm, createForm } from "../../../../src/admin/tui/state/call-form.ts";
import { initialState } from "../../../../src/admin/tui/state/model.ts";
import { reduce } from "../../../../src/admin/tui/state/reduce.ts";
import { plausibleData, tool } from "../../../tui/fake-rows.ts";

const form = (inputSchema: Record<string, unknown>): CallForm => createForm(tool("t", "s", { inputSchema }));
const one = (schema: unknown, required = false): CallForm =>
  form({ type: "object", properties: { x: schema }, ...(required && { required: ["x"] }) });
const edit = (start: CallForm, ...edits: FormEdit[]): CallForm => edits.reduce(editForm, start);
const type = (start: CallForm, text: string): CallForm =>
  edit(start, { type: "erase", what: "all" }, { type: "insert", text });

function verdict(filled: CallForm): unknown {
  const checked = checkForm(filled);
  return checked.ok ? checked.arguments : checked.form.fields.map(({ error }) => error);
}

describe("the fields of a form", () => {
  it.each([
    [{ type: "string" }, "string", "string"],
    [{ type: ["string", "null"] }, "string", "string"],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "integer", "integer"],
    [{ $ref: "#/$defs/mode" }, "enum", "choice"],
    [{ const: 4 }, "enum", "choice"],
    [{ type: "array", items: { type: "number" } }, "json", "number[]"],
    [{ type: "object" }, "json", "object"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "json", "string | number"],
    [true, "json", "any"],
    [{ $ref: "#/$defs/loop" }, "json", "any"],
  ])("%j is a field of kind %s", (schema, kind, name) => {
    const made = form({
      type: "object",
      properties: { x: schema },
      $defs: { mode: { enum: ["a", "b"] }, loop: { $ref: "#/$defs/loop" } },
    });
    expect(made.fields.map((field) => [field.kind, field.type])).toEqual([[kind, name]]);
  });

  it("is one field of JSON where the schema names no properties, and none where nothing is taken", () => {
    expect(form({ type: "object", oneOf: [{}, {}] }).fields.map(({ name }) => name)).toEqual(["arguments"]);
    expect(verdict(type(form({ type: "object", additionalProperties: true }), '{"a":1}'))).toEqual({ a: 1 });
    expect(verdict(form({ type: "object" }))).toEqual({});
  });
});

describe("checking", () => {
  it.each([
    ["a missing required field", one({ type: "string" }, true), ["required"]],
    ["an optional field left empty", one({ type: "number" }), {}],
    ["a text", type(one({ type: "string" }), "ä b"), { x: "ä b" }],
    ["a text too short", type(one({ type: "string", minLength: 3 }), "ab"), ["at least 3 characters"]],
    ["a number", type(one({ type: "number" }), " -1.5e3 "), { x: -1500 }],
    ["no number", type(one({ type: "number" }), "12px"), ["a number is needed"]],
    ["a fraction for an integer", type(one({ type: "integer" }), "1.5"), ["a whole number is needed"]],
    ["a number out of range", type(one({ type: "integer", maximum: 5 }), "6"), ["at most 5"]],
    ["a number at its bound", type(one({ type: "integer", minimum: 1 }), "1"), { x: 1 }],
    ["a number below its bound", type(one({ type: "integer", minimum: 1 }), "0"), ["at least 1"]],
    ["an excluded bound", type(one({ type: "number", exclusiveMinimum: 0 }), "0"), ["more than 0"]],
    ["broken JSON", type(one({ type: "array" }), "[1"), ["not valid JSON"]],
    ["an object for an array", type(one({ type: "array" }), "{}"), ["a JSON array is needed: […]"]],
    ["an array for an object", type(one({ type: "object" }), "[]"), ["a JSON object is needed: {…}"]],
    ["a default", one({ type: "integer", default: 7 }), { x: 7 }],
    ["a false default", one({ type: "boolean", default: false }), { x: false }],
    ["a required boolean", one({ type: "boolean" }, true), { x: true }],
  ])("%s", (_, filled, expected) => {
    expect(verdict(filled)).toEqual(expected);
  });

  it("puts the focus on the first wrong field", () => {
    const two = form({ type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["b"] });
    const checked = checkForm(two);
    expect(checked.ok ? undefined : checked.form.focus).toBe(1);
  });
});

describe("editing", () => {
  it("goes through choices by arrow, space and letter", () => {
    const choice = one({ enum: ["bug", "feature", 3] });
    expect(verdict(edit(choice, { type: "caret", to: "right" }))).toEqual({ x: "bug" });
    expect(verdict(edit(choice, { type: "caret", to: "left" }))).toEqual({ x: 3 });
    expect(verdict(edit(choice, { type: "insert", text: "f" }))).toEqual({ x: "feature" });
    expect(verdict(edit(choice, { type: "insert", text: " " }, { type: "insert", text: " " }))).toEqual({
      x: "feature",
    });
  });

  it("edits at the caret and never splits a character", () => {
    const typed = type(one({ type: "string" }), "a😀c");
    expect(verdict(edit(typed, { type: "caret", to: "left" }, { type: "erase", what: "before" }))).toEqual({ x: "ac" });
    expect(verdict(edit(typed, { type: "caret", to: "start" }, { type: "insert", text: "z" }))).toEqual({ x: "za😀c" });
    expect(
      verdict(edit(type(typed, "one two"), { type: "erase", what: "word" }, { type: "insert", text: "2" })),
    ).toEqual({ x: "one 2" });
  });

  it("goes round from the first field over the button", () => {
    const two = form({ type: "object", properties: { a: {}, b: {} } });
    expect([1, 2, 3, -1].map((by) => edit(two, { type: "focus", by }).focus)).toEqual([1, 2, 0, 2]);
  });
});

describe("a call", () => {
  const { tools } = plausibleData();
  const start = reduce(
    reduce(initialState({ url: "u", now: 0, size: { columns: 80, rows: 24 } }), { type: "loaded", lists: { tools } }),
    { type: "panel", to: "tools" },
  );

  it("runs only when the form is right, and ignores an answer that nobody waits for", () => {
    const open = reduce(start, { type: "call-open" });
    const stage = (state: typeof start): unknown =>
      state.mode.name === "call" ? state.mode.form.stage.name : state.mode.name;
    expect(stage(reduce(open, { type: "call-submit" }))).toBe("edit");
    const filled = reduce(open, { type: "call-edit", edit: { type: "insert", text: "/tmp" } });
    const running = reduce(filled, { type: "call-submit" });
    expect(stage(running)).toBe("running");
    const done = { type: "call-done", failed: false, ms: 3, blocks: [{ kind: "text", text: "hi" }] } as const;
    expect(stage(reduce(running, done))).toBe("done");
    const left = reduce(running, { type: "back" });
    expect(stage(left)).toBe("edit");
    expect(stage(reduce(left, done))).toBe("edit");
    expect(stage(reduce(left, { type: "back" }))).toBe("browse");
  });
});

describe("the outline of a schema", () => {
  it("is indented, marks what is required and names limits", () => {
    const rows = outline({
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "object", properties: { b: { type: "integer", minimum: 1, default: 2, description: "B" } } },
        list: { type: "array", items: { type: "object", properties: { c: { enum: ["x", "y"] } } } },
      },
    });
    expect(
      rows.map(
        ({ depth, name, required, type: kind, limits }) => `${depth} ${name}${required ? "*" : ""} ${kind} ${limits}`,
      ),
    ).toEqual(["0 a* object ", "1 b integer ≥ 1, default 2", "0 list object[] ", '1 c "x" | "y" ']);
  });

  it("ends for a schema that contains itself", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    expect(outline({ $ref: "#/$defs/node", $defs: { node } })).toHaveLength(6);
  });
});
