/**
 * The dashboard in a real terminal: tmux is the emulator, so a test sees what a person sees.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { PATIENCE_MS } from "../fixtures/until.ts";

const root = path.resolve(import.meta.dirname, "../..");
const built = path.join(root, "dist/admin/tui/index.js");
const launcher = path.join(root, "test/tui/launch.mjs");

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
export const hasScript = spawnSync("script", ["--version"]).status === 0;

/** The command that runs the built dashboard. */
export function command(url: string, more = ""): string {
  return `${process.execPath} ${launcher} ${built} ${url} ${more}`.trim();
}

/** The dashboard runs from what is built; builds it unless that is newer than its sources. */
export function build(): void {
  const sources = ["src/admin/tui", "src/admin/api"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .map((file) => path.join(root, folder, file))
      .filter((file) => /\.tsx?$/.test(file)),
  );
  const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return;
  // Errors of types are the type check's to find; what matters here is that the files were written.
  spawnSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], {
    cwd: root,
  });
  if (!existsSync(built)) throw new Error("the build did not write dist/admin/tui/index.js");
}

export interface Terminal {
  /** Keys by tmux's names (Enter, Escape, C-c, BTab) or text. */
  keys(...keys: string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The screen as text, or with its colours. */
  screen(colours?: boolean): string;
  /** The screen as soon as it contains the text or satisfies the test. */
  until(what: string | RegExp | ((screen: string) => boolean)): Promise<string>;
  /** What the program put on the clipboard last. */
  clipboard(): string;
  /** One of tmux's variables, such as cursor_flag or alternate_on. */
  variable(name: string): string;
  close(): void;
}

let sessions = 0;

/** A shell of the given size in a tmux server of its own. */
export function openTerminal({ columns = 80, rows = 24 } = {}): Terminal {
  sessions += 1;
  const socket = `goblin-${process.pid}-${sessions}`;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...process.env, TERM: "xterm-256color" },
    });
  // CI, NO_COLOR and the test runner's own variables must not change what a person would see.
  const shell = "env -u CI -u NO_COLOR -u NODE_ENV -u VITEST -u FORCE_COLOR PS1='$ ' sh";
  const options = "start-server ; set-option -g status off ; set-option -s set-clipboard on ; new-session -d -s t";
  tmux(...options.split(" "), "-x", String(columns), "-y", String(rows), shell);
  const screen = (colours = false): string => tmux("capture-pane", "-p", "-t", "t", ...(colours ? ["-e"] : []));
  return {
    keys: (...keys) => void tmux("send-keys", "-t", "t", ...keys),
    paste(text) {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p", "-t", "t");
    },
    resize: (width, height) => void tmux("resize-window", "-t", "t", "-x", String(width), "-y", String(height)),
    screen,
    async until(what) {
      const found = (text: string): boolean =>
        typeof what === "string" ? text.includes(what) : what instanceof RegExp ? what.test(text) : what(text);
      for (const end = Date.now() + PATIENCE_MS; ; ) {
        const text = screen();
        if (found(text)) return text;
        if (Date.now() > end) throw new Error(`not on the screen: ${what}\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    clipboard: () => tmux("show-buffer"),
    variable: (name) => tmux("display-message", "-p", "-t", "t", `#{${name}}`).trim(),
    close() {
      tmux("kill-server");
    },
  };
}
