/**
 * The Markdown that servers and models write, as elements: headings, lists, code, quotes, emphasis
 * and links. It is built from text nodes only, so HTML in it stays text. Links open nothing but
 * http and https; images are shown as links, because loading one would tell a stranger who looks.
 */
import type { ComponentChildren } from "preact";
import { visible } from "../format.ts";

const MAX_LENGTH = 100_000;

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocks(text.slice(0, MAX_LENGTH).split(/\r?\n/))}</div>;
}

function blocks(lines: readonly string[]): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence) {
      const end = lines.findIndex((other, index) => index > at && other.trimStart().startsWith(fence));
      const stop = end < 0 ? lines.length : end;
      out.push(
        <pre>
          <code>{visible(lines.slice(at + 1, stop).join("\n"))}</code>
        </pre>,
      );
      at = stop + 1;
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading) {
      out.push(<p class={`md-h md-h${heading[1]!.length}`}>{inline(heading[2]!)}</p>);
      at += 1;
      continue;
    }
    const item = /^\s*([-*+]|\d+[.)])\s+/;
    const take = (test: RegExp): string[] => {
      const from = at;
      while (at < lines.length && test.test(lines[at]!)) at += 1;
      return lines.slice(from, at).map((taken) => taken.replace(test, ""));
    };
    if (item.test(line)) {
      const isOrdered = /^\s*\d/.test(line);
      const items = take(item).map((text) => <li>{inline(text)}</li>);
      out.push(isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>);
      continue;
    }
    if (/^\s*>/.test(line)) {
      out.push(<blockquote>{inline(take(/^\s*>\s?/).join("\n"))}</blockquote>);
      continue;
    }
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const from = at;
    while (
      at < lines.length &&
      lines[at]!.trim() !== "" &&
      (at === from || !/^\s*(#{1,6}\s|```|~~~|>|[-*+]\s|\d+[.)]\s)/.test(lines[at]!))
    )
      at += 1;
    out.push(<p>{inline(lines.slice(from, at).join("\n"))}</p>);
  }
  return out;
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])|!?\[([^\]\n]*)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()"']+)/g;

function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    out.push(visible(text.slice(from, match.index)));
    from = match.index + match[0].length;
    const [whole, code, strong, emphasis, label, target, bare] = match;
    if (code !== undefined) out.push(<code>{visible(code)}</code>);
    else if (strong !== undefined) out.push(<strong>{visible(strong)}</strong>);
    else if (emphasis !== undefined) out.push(<em>{visible(emphasis)}</em>);
    else out.push(<SafeLink href={target ?? bare ?? ""} text={label || (target ?? bare ?? whole)} />);
  }
  out.push(visible(text.slice(from)));
  return out;
}

/** A link to another site. Its address is shown beside a text that hides it. */
export function SafeLink({ href, text }: { href: string; text: string }) {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) return <span>{visible(text)}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={href}>
      {visible(text)}
      {text !== href && <small class="address"> ({visible(new URL(href).host)})</small>}
    </a>
  );
}
