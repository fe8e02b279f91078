/**
 * The dashboard in a real terminal against a real (fake) admin API: its panels, and the terminal as
 * it leaves it. What else it does there is in `pty.slow.ts`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { variants } from "../fixtures/thorough.ts";
import { until } from "../fixtures/until.ts";
import { closeAll, dashboard, fake, later, rowsOf, rowWith, terminal } from "./dashboard.ts";
import { build, command, hasScript, hasTmux } from "./pty.ts";

beforeAll(build, 120_000);
afterEach(closeAll);

describe.skipIf(!hasTmux)("in a terminal", () => {
  it("shows every panel on 80 × 24 and switches by number and tab", async () => {
    const { term } = await dashboard();
    const overview = await term.until((screen) => screen.includes("12/s") && screen.includes("timeout"));
    expect(overview).toContain("2 of 4 ready");
    expect(overview).toContain("✗ docs       down");
    expect(overview).toMatch(/calls +12\/s +█/);
    expect(rowWith(overview, "timeout")).toMatch(/\d\d:\d\d:\d\d timeout +60 s +github_create_issue/);

    term.keys("2");
    expect(await term.until("VIA")).toMatch(/▸ ✗ docs +down .+ http +3 +2 +3 +1 +12 ms/);
    term.keys("3");
    const tools = await term.until("DESCRIPTION");
    expect(tools).toContain("▸ filesystem_read_file Does read_file on filesystem");
    expect(tools).toContain("Evil ␛[31mred␛[0m ␛]0;pwned␇");
    term.keys("Tab");
    expect(await term.until("ARGUMENTS")).toMatch(/github_review +number\* tone +Reviews a pull/);
    term.keys("5");
    await term.until("Templates 1");
    term.keys("Tab");
    expect(await term.until("following")).toContain("ERROR github       rate limit hit");
    term.keys("BTab");
    await term.until("Templates 1");
    for (const row of rowsOf(term.screen())) expect(row.length).toBeLessThanOrEqual(80);
  });

  it.each(variants(["q"], ["C-c"]))("gives the terminal back on %s", async (key) => {
    const admin = await fake();
    const term = terminal();
    term.keys("echo before", "Enter");
    term.keys(
      `stty -a > /dev/null; ${command(admin.url)}; echo exit=$?; stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo`,
      "Enter",
    );
    await term.until("2 of 4 ready");
    expect(term.variable("alternate_on")).toBe("1");
    expect(term.variable("cursor_flag")).toBe("0");
    term.keys(key);
    const after = await term.until((screen) => screen.includes("exit=0") && screen.includes("\necho"));
    expect(after).toContain("before");
    expect(after).toContain("icanon");
    expect(after).not.toContain("Overview");
    expect(term.variable("alternate_on")).toBe("0");
    expect(term.variable("cursor_flag")).toBe("1");
    expect(term.variable("wrap_flag")).toBe("1");
    await until(() => admin.streams() === 0);
  });

  it.each([
    ["a signal", "SIGTERM", "exit=143", "exit=143"],
    ["an exception that nobody caught", "SIGUSR2", "exit=1", "crashed on purpose"],
  ] as const)("gives the terminal back on %s", async (_, signal, exit, says) => {
    const admin = await fake();
    const term = terminal();
    const folder = mkdtempSync(path.join(tmpdir(), "goblin-tui-"));
    later(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, "pid");
    term.keys(`sh -c 'echo $$ > ${file}; exec ${command(admin.url)}'; echo exit=$?`, "Enter");
    await term.until("2 of 4 ready");
    process.kill(Number(readFileSync(file, "utf8")), signal);
    expect(await term.until(exit)).toContain(says);
    expect(term.variable("alternate_on")).toBe("0");
    expect(term.variable("cursor_flag")).toBe("1");
  });

  it("gives the terminal back when a view throws, and says why", async () => {
    const { term } = await dashboard();
    term.resize(77, 24);
    const after = await term.until("exit=1");
    expect(after).toContain("a view that throws");
    expect(term.variable("alternate_on")).toBe("0");
    expect(term.variable("cursor_flag")).toBe("1");
  });
});

describe.skipIf(!hasScript)("in a bare pty", () => {
  it("enters and leaves the alternate screen, and never clears the scroll-back", async () => {
    const admin = await fake();
    const child = spawn("script", ["-qfec", command(admin.url), "/dev/null"], {
      env: { ...process.env, CI: "true", TERM: "xterm-256color", COLUMNS: "80", LINES: "24" },
    });
    later(() => void child.kill());
    let output = "";
    let isAsked = false;
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (isAsked || !output.includes("2 of 4 ready")) return;
      isAsked = true;
      child.stdin.write("q");
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(code).toBe(0);
    expect(output.startsWith("\u001b[?1049h")).toBe(true);
    expect(output.trimEnd().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
    expect(output).not.toContain("\u001b[3J");
  });

  it("refuses to run where there is no terminal", () => {
    const [node = "", ...args] = command("http://127.0.0.1:9").split(" ");
    const { status, stderr, stdout } = spawnSync(node, args, { encoding: "utf8", input: "" });
    expect(status).toBe(1);
    expect(stderr).toBe("The dashboard needs a terminal: standard input and output must both be a terminal.\n");
    expect(stdout).toBe("");
  });
});
