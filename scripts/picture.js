/**
 * Makes docs/dashboard.svg, the picture in the README: the real dashboard of a gateway with the
 * demo servers, in a real terminal (tmux), after some calls. Needs tmux.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { GOBLIN, startDemo } from "./pictures/demo.js";

const [COLUMNS, ROWS] = [108, 30];
const TARGET = new URL("../docs/dashboard.svg", import.meta.url);
const BASE = ["#3b4048", "#f47067", "#57ab5a", "#d4a72c", "#539bf5", "#b083f0", "#39c5cf", "#c9d1d9"];
const BRIGHT = ["#768390", "#ff938a", "#6bc46d", "#e0b84a", "#6cb6ff", "#dcbdfb", "#56d4dd", "#ffffff"];
const ESC = String.fromCharCode(27);
const ESCAPES = new RegExp(`${ESC}\\[([\\d;]*)m|([^${ESC}]+)`, "g");

const socket = `goblin-picture-${process.pid}`;
const demo = await startDemo();
const { url } = demo;
try {
  await demo.ready();
  const shell = `env -u CI -u NO_COLOR ${process.execPath} ${GOBLIN} tui --url ${url}`;
  tmux(
    "start-server",
    ";",
    "set-option",
    "-g",
    "status",
    "off",
    ";",
    "new-session",
    "-d",
    "-s",
    "t",
    "-x",
    COLUMNS,
    "-y",
    ROWS,
    shell,
  );
  await sleep(1500);
  await demo.calls(90);
  await sleep(600);
  writeFileSync(TARGET, svg(tmux("capture-pane", "-p", "-e", "-t", "t")));
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It never started.
  }
  await demo.end();
}

function tmux(...args) {
  const env = { ...process.env, TERM: "xterm-256color", COLORTERM: "truecolor" };
  return execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...args.map(String)], { encoding: "utf8", env });
}

/** Draws a screen with colours as text on a grid, so that the picture is small and stays sharp. */
function svg(screen) {
  const [width, height, left, top] = [8.4, 18, 16, 44];
  const lines = screen.replace(/\n+$/, "").split("\n");
  const body = lines.flatMap((line, row) => {
    const y = top + row * height;
    return spans(line).flatMap(({ column, text, style }) => {
      const x = left + column * width;
      const parts = [];
      if (style.bg)
        parts.push(
          `<rect x="${x}" y="${y - 13}" width="${text.length * width}" height="${height}" fill="${style.bg}"/>`,
        );
      if (text.trim() !== "") {
        const look = `${style.bold ? ' font-weight="600"' : ""}${style.dim ? ' opacity="0.6"' : ""}`;
        const length = ` textLength="${text.length * width}"`;
        parts.push(
          `<text x="${x}" y="${y}" fill="${style.fg}"${look}${length} xml:space="preserve">${escaped(text)}</text>`,
        );
      }
      return parts;
    });
  });
  const [w, h] = [COLUMNS * width + 2 * left, ROWS * height + top];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" role="img" aria-label="The Goblin dashboard in a terminal">
<rect width="${w}" height="${h}" rx="10" fill="#12161b"/>
<circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="38" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
${body.join("\n")}
</g>
</svg>
`;
}

/** Splits a line into runs of one look. */
function spans(line) {
  const found = [];
  let style = { fg: "#c9d1d9" };
  let column = 0;
  for (const [, codes, text] of line.matchAll(ESCAPES)) {
    if (text === undefined) style = styled(style, codes);
    else {
      const shown = style.inverse ? { ...style, fg: "#12161b", bg: style.fg } : style;
      found.push({ column, text, style: shown });
      column += [...text].length;
    }
  }
  return found;
}

function styled(before, codes) {
  const style = { ...before };
  const list = (codes || "0").split(";").map(Number);
  for (let i = 0; i < list.length; i++) {
    const code = list[i];
    if (code === 0) for (const key of Object.keys(style)) delete style[key];
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) [style.bold, style.dim] = [false, false];
    else if (code === 27) style.inverse = false;
    else if (code === 38 || code === 48) {
      const [colour, used] = list[i + 1] === 2 ? [rgb(list.slice(i + 2, i + 5)), 4] : [indexed(list[i + 2]), 2];
      style[code === 38 ? "fg" : "bg"] = colour;
      i += used;
    } else if (code >= 30 && code <= 37) style.fg = BASE[code - 30];
    else if (code >= 90 && code <= 97) style.fg = BRIGHT[code - 90];
    else if (code >= 40 && code <= 47) style.bg = BASE[code - 40];
    else if (code >= 100 && code <= 107) style.bg = BRIGHT[code - 100];
    else if (code === 39) delete style.fg;
    else if (code === 49) delete style.bg;
  }
  return { ...style, fg: style.fg ?? "#c9d1d9" };
}

function rgb(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function indexed(index) {
  if (index < 8) return BASE[index];
  if (index < 16) return BRIGHT[index - 8];
  if (index >= 232) return rgb(Array(3).fill(8 + (index - 232) * 10));
  const at = index - 16;
  return rgb([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => (level === 0 ? 0 : 55 + level * 40)));
}

function escaped(text) {
  return text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char]);
}
