/**
 * Builds the documentation as static pages: README and docs/, a recipe for each MCP client from the
 * table that `goblin install` uses, a search that needs no server, llms.txt, and every page as
 * Markdown too.
 *
 *   node scripts/docs.js [folder]     (default: site; needs `npm run build` for the recipes)
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { clients } from "../dist/app/clients/table.js";
import { recipe } from "./site/recipe.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = process.argv[2] ?? join(root, "site");
const read = (path) => readFileSync(join(root, path), "utf8");
const escaped = (text) =>
  text.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);

/** The order of the contents; other pages follow by name. */
const first = [
  "README.md",
  "docs/need.md",
  "docs/install.md",
  "docs/clients.md",
  "docs/configuration.md",
  "docs/command-line.md",
  "docs/doctor.md",
];
const written = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const order = (path) => (first.includes(path) ? first.indexOf(path) : first.length);
const sources = [
  ...written.sort((a, b) => order(a) - order(b) || a.localeCompare(b)).map((path) => ({ path, text: read(path) })),
  ...clients.map((client) => ({ path: `docs/client-${client.id}.md`, text: recipe(client) })),
];

/** Files of the repository may have the name of a document: SECURITY.md and docs/security.md. */
const nameOf = (path) => {
  const name = posix.basename(path, ".md").toLowerCase();
  return path === "README.md" ? "index" : path.startsWith("docs/") ? name : `repository-${name}`;
};
const pageOf = new Map(sources.map(({ path }) => [path, `${nameOf(path)}.html`]));
const copied = new Set();

const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** Links between files become links between pages; other files are copied. */
function hrefOf(href, from) {
  if (/^([a-z]+:|#)/i.test(href)) return href;
  const [path, anchor] = href.split("#");
  const target = posix.normalize(posix.join(posix.dirname(from), path));
  const end = anchor === undefined ? "" : `#${anchor}`;
  if (pageOf.has(target)) return pageOf.get(target) + end;
  copied.add(target);
  return target + end;
}

function render({ path, text }) {
  const headings = [];
  const seen = new Map();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const plain = html.replace(/<[^>]+>/g, "").replace(/&[a-z]+;|&#\d+;/g, "");
        const base = slug(plain);
        const count = seen.get(base) ?? 0;
        seen.set(base, count + 1);
        const id = count === 0 ? base : `${base}-${count}`;
        headings.push({ id, text: plain, depth });
        return `<h${depth} id="${id}"><a href="#${id}">${html}</a></h${depth}>\n`;
      },
      html: ({ text: raw }) => escaped(raw),
      link({ href, tokens }) {
        return `<a href="${escaped(hrefOf(href, path))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escaped(hrefOf(href, path))}" alt="${escaped(alt)}">`;
      },
    },
  });
  const body = marked
    .parse(text)
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
  return { path, text, body, headings, title: headings[0]?.text ?? nameOf(path) };
}

function pageHtml({ path, title, body }, pages) {
  const contents = pages.map((page) => {
    const here = page.path === path ? ' aria-current="page"' : "";
    return `<li><a href="${pageOf.get(page.path)}"${here}>${escaped(page.title)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<title>${escaped(title)} · Goblin</title>
<link rel="stylesheet" href="style.css">
<link rel="alternate" type="text/markdown" href="${nameOf(path)}.md">
<script src="search-index.js" defer></script>
<script src="search.js" defer></script>
</head>
<body>
<header><a href="index.html">Goblin</a><input id="search" type="search" placeholder="Search" aria-label="Search the documentation"></header>
<ol id="results" hidden></ol>
<div class="columns">
<main>
${body}
<footer><a href="${nameOf(path)}.md">This page as Markdown</a> · <a href="llms.txt">llms.txt</a></footer>
</main>
<nav aria-label="Pages"><ul>${contents.join("")}</ul></nav>
</div>
</body>
</html>
`;
}

const plain = (html) =>
  html
    .replace(/<[^>]+>/g, " ")
    .replace(/&(lt|gt|quot|amp|#39);/g, (_, name) => ({ lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" })[name])
    .replace(/\s+/g, " ")
    .trim();

/** One entry for each section, so that a result leads to its place. */
function indexOf({ path, title, body }) {
  const sections = body.matchAll(/<h([1-3]) id="([^"]+)">(.*?)<\/h\1>([\s\S]*?)(?=<h[1-3] id=|$)/g);
  return Array.from(sections, ([, , id, heading, text]) => {
    return {
      page: title,
      heading: plain(heading),
      href: `${pageOf.get(path)}#${id}`,
      text: plain(text).slice(0, 2000),
    };
  });
}

/** The first sentence of a page. */
function summaryOf({ body, title }) {
  const paragraph = plain(/<p>([\s\S]*?)<\/p>/.exec(body)?.[1] ?? title);
  return /^.+?[.?](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph;
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const pages = sources.map(render);
for (const page of pages) {
  writeFileSync(join(out, pageOf.get(page.path)), pageHtml(page, pages));
  writeFileSync(join(out, `${nameOf(page.path)}.md`), page.text);
}
for (const path of copied) {
  if (!existsSync(join(root, path))) throw new Error(`a page links to ${path}, which does not exist`);
  cpSync(join(root, path), join(out, path), { recursive: true });
}
for (const name of ["style.css", "search.js"]) cpSync(join(root, "scripts/site", name), join(out, name));
writeFileSync(join(out, "search-index.js"), `globalThis.searchIndex = ${JSON.stringify(pages.flatMap(indexOf))};\n`);
const list = pages.map((page) => `- [${page.title}](${nameOf(page.path)}.md): ${summaryOf(page)}`);
writeFileSync(
  join(out, "llms.txt"),
  `# Goblin\n\n> One MCP endpoint in front of all your MCP servers.\n\n## Docs\n\n${list.join("\n")}\n`,
);
console.log(`${pages.length} pages in ${out}`);
