/**
 * The dashboard's work in a real terminal against a real (fake) admin API.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { closeAll, dashboard, fake, later, rowsOf, rowWith } from "./dashboard.ts";
import { log, plausibleData, resource } from "./fake-rows.ts";
import { build, hasTmux } from "./pty.ts";

beforeAll(build, 120_000);
afterEach(closeAll);

describe.skipIf(!hasTmux)("in a terminal", () => {
  it("searches: hides the rest and highlights the match", async () => {
    const { term } = await dashboard();
    term.keys("3");
    await term.until("DESCRIPTION");
    term.keys("/");
    term.keys("ISSUE");
    const found = await term.until("1 of 4 tools");
    expect(found).toContain("github_create_issue");
    expect(found).not.toContain("filesystem_read_file");
    // Black on yellow, bold, underlined: the matched part and nothing else.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
    expect(term.screen(true)).toMatch(/github_create_(\u001b\[[0-9;]*m)*\u001b\[30m\u001b\[43missue\u001b/);
    term.keys("Escape");
    await term.until("4 tools");
    expect(term.screen()).toContain("▸ github_create_issue");
  });

  it("filters by server and MIME type, shows templates, details and subscriptions", async () => {
    const { term } = await dashboard();
    term.keys("5");
    const all = await term.until("MIME TYPE");
    expect(rowWith(all, "app.log")).toMatch(/^ {2}● filesyste….*\/logs\/app\.log app\.log +text\/plain +2 KB/);
    expect(rowWith(all, "hosts")).toMatch(/^▸ {3}filesyst/);
    expect(rowWith(all, "repo-file")).toMatch(/github\+repo:\/\/\{owner\}\/\{name\}\/file +repo-file +A file of a/);

    term.keys("j", "j", "Enter");
    const details = await term.until("Metadata");
    for (const text of [
      "filesystem_file___logs_app.",
      "file:///logs/app.log",
      "● by 1",
      "claude-desktop since",
      "The log of the application",
    ]) {
      expect(details).toContain(text);
    }
    term.keys("Escape");
    await term.until("MIME TYPE");

    term.keys("m");
    await term.until("Show only one MIME type");
    term.keys("j", "Enter");
    const images = await term.until("1 of 4 resources");
    expect(images).toContain("type image/png");
    expect(images).toContain("logo.png");
    expect(images).not.toContain("app.log");
    term.keys("m");
    await term.until("Show only one");
    term.keys("g", "Enter");
    await term.until("4 resources");

    term.keys("s");
    await term.until("Show only one server");
    term.keys("G", "k", "Enter");
    expect(await term.until("server github")).toContain("README.md");
    expect(term.screen()).not.toContain("hosts");

    term.keys("t", "Enter");
    expect(await term.until("pattern")).toContain("repo://{owner}/{name}/file");
  });

  it("calls a tool with a form made from its schema", async () => {
    const text = Array.from({ length: 60 }, (_, index) => `line ${index + 1} \u001b[2J`).join("\n");
    const { admin, term } = await dashboard({
      play: ({ send }) => send({ type: "result", data: { result: { content: [{ type: "text", text }] } } }),
    });
    term.keys("3");
    await term.until("DESCRIPTION");
    term.keys("j", "j", "c");
    await term.until("Call github_create_issue");
    term.keys("C-s");
    const missing = await term.until("✗ required");
    expect(missing.match(/✗ required/g)).toHaveLength(2);
    term.keys("a/b", "Tab", "Fix it", "Tab", "BSpace", "9", "Tab", "Right", "Tab", "Left", "Tab");
    term.paste('["x",\n"y"]');
    await term.until('["x", "y"]');
    term.keys("C-s");
    await term.until("✗ at most 5");
    term.keys("BSpace", "5", "C-s");
    await term.until("Call it? y yes");
    term.keys("y");
    const result = await term.until("line 1 of 60");
    expect(result).toContain("github_create_issue ok");
    expect(result).toContain("line 1 ␛[2J");
    expect(admin.actions).toEqual([
      {
        request: "POST /api/calls",
        body: {
          method: "tools/call",
          params: {
            name: "github_create_issue",
            arguments: { repo: "a/b", title: "Fix it", priority: 5, kind: "bug", draft: true, labels: ["x", "y"] },
          },
          capabilities: { elicitation: { form: {}, url: {} }, sampling: {} },
          caller: expect.any(String),
        },
      },
    ]);
    term.keys("G");
    await term.until("line 60 ");
    term.keys("Escape");
    expect(await term.until("[ Call ]")).toContain("Fix it");
  });

  it("restarts and disables a server after a yes", async () => {
    const { admin, term } = await dashboard();
    term.keys("2");
    await term.until("VIA");
    term.keys("r");
    await term.until("Restart docs? y yes");
    term.keys("n");
    await term.until((screen) => !screen.includes("Restart docs?"));
    term.keys("r");
    await term.until("Restart docs?");
    term.keys("y");
    expect(await term.until("Restarted docs")).toMatch(/● docs +ready/);
    term.keys("e");
    await term.until("Disable docs?");
    term.keys("y");
    expect(await term.until("Disabled docs")).toMatch(/– docs +disabled/);
    expect(admin.actions.map(({ request }) => request)).toEqual([
      "POST /api/servers/docs/restart",
      "POST /api/servers/docs/disable",
    ]);
  });

  it("follows the log, pauses, filters by level", async () => {
    const { admin, term } = await dashboard();
    term.keys("6");
    await term.until("following");
    for (let index = 1; index <= 40; index += 1)
      admin.emit({ type: "log", data: log(`tick ${index}`, { server: "docs" }) });
    await term.until("tick 40");
    term.keys("k");
    await term.until("paused");
    admin.emit({ type: "log", data: log("tick 41", { level: "fatal" }) });
    await term.until("45 lines");
    expect(term.screen()).toContain("▸");
    term.keys("L");
    await term.until("fatal and above");
    term.keys("G", "Enter", "f");
    const fatal = await term.until("1 of 45 lines");
    expect(fatal).toContain("tick 41");
    expect(fatal).not.toContain("tick 40");
  });

  it("fits the terminal after a resize and says when it is too small", async () => {
    const { term } = await dashboard();
    term.keys("3");
    await term.until("DESCRIPTION");
    term.resize(140, 40);
    const large = await term.until(
      (screen) => rowsOf(screen.trimEnd()).length === 40 && screen.includes("Enter scroll"),
    );
    // The details are there without being asked.
    expect(rowWith(large, "▸")).toContain("│ server      filesystem");
    expect(large).toContain("log info  goblin.json");
    term.resize(40, 10);
    await term.until("40×10, needs 60×15");
    term.resize(80, 24);
    const back = await term.until((screen) => rowsOf(screen.trimEnd())[23]?.includes("Enter details") === true);
    expect(back).not.toContain("too small");
    expect(rowWith(back, "goblin 0.1.0")).toBe(rowsOf(back)[0]);
  });

  it("says that the gateway is away and recovers when it is back", async () => {
    const { admin, term } = await dashboard();
    term.keys("3");
    await term.until("DESCRIPTION");
    await admin.close();
    expect(await term.until("Gateway away")).toContain("filesystem_read_file");
    await term.until("nothing listens there");
    const data = plausibleData();
    data.tools = data.tools.slice(2);
    await fake({ port: admin.port, data });
    const again = await term.until((screen) => screen.includes("2 tools") && screen.includes("goblin 0.1.0"));
    expect(again).not.toContain("Gateway away");
    expect(again).not.toContain("filesystem_read_file");
  });

  it("moves through 10 000 resources while 100 events arrive each second", async () => {
    const data = plausibleData();
    for (let index = 0; index < 10_000; index += 1)
      data.resources.push(resource(`file:///big/file-${index}`, "filesystem"));
    const { admin, term } = await dashboard({ data });
    const timer = setInterval(() => admin.emit({ type: "log", data: log("noise") }), 10);
    later(() => clearInterval(timer));
    term.keys("5");
    await term.until("10k resources");
    term.keys("G");
    await term.until("file-9999");
    term.keys("g");
    await term.until(/▸ +filesyste.*big\/file-0 /);
    term.keys("/", "file-777");
    await term.until("11 of 10k resources");
  });

  it("copies the selected name to the terminal's clipboard", async () => {
    const { term } = await dashboard();
    term.keys("3", "j", "j", "y");
    await term.until("Copied github_create_issue");
    expect(term.clipboard()).toBe("github_create_issue");
  });
});
