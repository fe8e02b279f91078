/**
 * In a real terminal: the mouse, a server's question, the palette and a saved picture.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { closeAll, dashboard, later, rowWith } from "./dashboard.ts";
import { build, hasTmux } from "./pty.ts";

beforeAll(build, 120_000);
afterEach(closeAll);

describe.skipIf(!hasTmux)("in a terminal", () => {
  it("a click chooses a tab, a row and a column, the wheel scrolls, and Shift is left to the terminal", async () => {
    const { term } = await dashboard({ columns: 100 });
    const click = (column: number, row: number): void =>
      term.keys("-l", `\u001b[<0;${column};${row}M\u001b[<0;${column};${row}m`);
    const tabs = rowWith(term.screen(), "3 Tools");
    click(tabs.indexOf("3 Tools") + 3, 2);
    const tools = await term.until("DESCRIPTION");
    const heading = rowWith(tools, "TOKENS");
    click(heading.indexOf("TOKENS") + 2, 4);
    await term.until((screen) => screen.indexOf("github_search_code") < screen.indexOf("filesystem_read_file"));
    click(5, 5);
    await term.until("▸ github_search_code");
    term.keys("-l", "\u001b[<65;5;5M");
    await term.until((screen) => !screen.includes("▸ github_search_code"));
    expect(term.variable("mouse_any_flag")).toBe("1");
    term.keys("q");
    await term.until("exit=0");
    expect(term.variable("mouse_any_flag")).toBe("0");
  });

  it("answers a question, finds a tool in the palette, saves a picture", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "goblin-pty-"));
    later(() => rmSync(folder, { recursive: true }));
    const data = Buffer.from("a picture").toString("base64");
    const { term } = await dashboard({
      cwd: folder,
      play: async ({ send, answered }) => {
        const answer = answered();
        const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
        const params = { message: "Whose picture?", requestedSchema };
        send({ type: "question", data: { id: "1", method: "elicitation/create", params } });
        const text = JSON.stringify(await answer);
        const content = [
          { type: "text", text },
          { type: "image", mimeType: "image/png", data },
        ];
        send({ type: "result", data: { result: { content } } });
      },
    });
    term.keys(":");
    term.keys("search_c");
    await term.until("tool: call it");
    term.keys("Enter");
    await term.until("Call github_search_code");
    term.keys("/x", "C-s");
    await term.until("Whose picture?");
    term.keys("Ada", "Enter", "Enter");
    await term.until('"name": "Ada"');
    term.keys("w");
    await term.until("Saved github_search_code.png");
    expect(readFileSync(path.join(folder, "github_search_code.png"), "utf8")).toBe("a picture");
  });
});
