import { describe, expect, it } from "vitest";
import { helpLines } from "../../../../src/admin/tui/content/help.ts";
import { type KeyPress, readKey } from "../../../../src/admin/tui/keys.ts";
import type { KeyAction } from "../../../../src/admin/tui/state/action.ts";
import { createForm } from "../../../../src/admin/tui/state/call-form.ts";
import type { Mode } from "../../../../src/admin/tui/state/model.ts";
import { tool } from "../../../tui/fake-rows.ts";

const browse: Mode = { name: "browse" };
const search: Mode = { name: "search" };
const form: Mode = { name: "call", form: createForm(tool("t", "s")) };
const help: Mode = { name: "help", top: 0 };
const confirm: Mode = { name: "confirm", pending: { verb: "restart", serverId: "a" } };
const modes = [browse, search, form, help, confirm, { name: "picker", kind: "server", index: 0 } as const];

/** Every action of a press, all read in one mode. */
function actions(press: KeyPress, mode: Mode): KeyAction[] {
  const { action, rest } = readKey(press, mode);
  return [...(action ? [action] : []), ...(rest ? actions(rest, mode) : [])];
}

describe("keys", () => {
  it.each<[KeyPress, KeyAction]>([
    [{ input: "j" }, { type: "move", motion: 1 }],
    [
      { input: "", name: "down" },
      { type: "move", motion: 1 },
    ],
    [{ input: "k" }, { type: "move", motion: -1 }],
    [{ input: "g" }, { type: "move", motion: "top" }],
    [
      { input: "G", shift: true },
      { type: "move", motion: "bottom" },
    ],
    [
      { input: "d", ctrl: true },
      { type: "move", motion: "half-down" },
    ],
    [
      { input: "u", ctrl: true },
      { type: "move", motion: "half-up" },
    ],
    [{ input: "l" }, { type: "enter" }],
    [{ input: "", name: "enter" }, { type: "enter" }],
    [{ input: "", name: "right" }, { type: "enter" }],
    [{ input: "h" }, { type: "back" }],
    [{ input: "", name: "escape", meta: true }, { type: "back" }],
    [
      { input: "", name: "tab" },
      { type: "panel-step", by: 1 },
    ],
    [
      { input: "", name: "tab", shift: true },
      { type: "panel-step", by: -1 },
    ],
    [{ input: "5" }, { type: "panel", to: "resources" }],
    [{ input: "/" }, { type: "search" }],
    [{ input: "s" }, { type: "pick", kind: "server" }],
    [{ input: "m" }, { type: "pick", kind: "mime" }],
    [
      { input: "L", shift: true },
      { type: "pick", kind: "level" },
    ],
    [{ input: "f" }, { type: "follow" }],
    [{ input: "r" }, { type: "ask-restart" }],
    [{ input: "e" }, { type: "ask-toggle" }],
    [{ input: "c" }, { type: "call-open" }],
    [{ input: "y" }, { type: "copy" }],
    [{ input: "?" }, { type: "help" }],
    [{ input: "q" }, { type: "quit" }],
  ])("%j while browsing", (press, action) => {
    expect(actions(press, browse)).toEqual([action]);
  });

  it("quits on ctrl-c in every mode", () => {
    for (const mode of modes) expect(actions({ input: "c", ctrl: true }, mode)).toEqual([{ type: "quit" }]);
  });

  it("types letters where text is typed, whatever they do elsewhere", () => {
    expect(actions({ input: "q" }, search)).toEqual([{ type: "search-edit", edit: { insert: "q" } }]);
    expect(actions({ input: "q" }, form)).toEqual([{ type: "call-edit", edit: { type: "insert", text: "q" } }]);
    expect(actions({ input: "q" }, confirm)).toEqual([{ type: "answer", yes: false }]);
  });

  it("reads a burst key by key, each in the mode that the one before led to", () => {
    expect(actions({ input: "jjk" }, browse).map((action) => action.type === "move" && action.motion)).toEqual([
      1, 1, -1,
    ]);
    const { action, rest } = readKey({ input: "/issue\r" }, browse);
    expect(action).toEqual({ type: "search" });
    expect(actions(rest ?? { input: "" }, search)).toEqual([
      { type: "search-edit", edit: { insert: "issue" } },
      { type: "search-done", keep: true },
    ]);
    expect(actions({ input: "a\tb\u007f\u0013" }, form).map((one) => one.type)).toEqual([
      "call-edit",
      "call-edit",
      "call-edit",
      "call-edit",
      "call-submit",
    ]);
  });

  it("takes what is pasted as text, and as nothing where no text is typed", () => {
    expect(actions({ input: "q\n\u001b[31mR", pasted: true }, browse)).toEqual([]);
    expect(actions({ input: "[1,\n 2]\u001b", pasted: true }, form)).toEqual([
      { type: "call-edit", edit: { type: "insert", text: "[1, 2]" } },
    ]);
  });

  it("ignores keys without a meaning", () => {
    expect(actions({ input: "ß" }, browse)).toEqual([]);
    expect(actions({ input: "x", meta: true }, search)).toEqual([]);
  });

  it("has every key in the help", () => {
    const text = helpLines()
      .map((spans) => spans.map((part) => part.text).join(""))
      .join("\n");
    expect(text).toContain("1  2  3  4  5  6  7 to that panel");
    expect(text).toContain("c  o                call the tool, get the prompt, read the resource, open the call");
  });
});
