/**
 * MCP content for people: text, images, audio, links and embedded resources.
 *
 * Invariant: nothing that a server sends is ever HTML, a script or a style of this page. Pictures
 * and sounds are `data:` addresses of media types that cannot run anything; an SVG is shown as an
 * image, where its scripts do not run. HTML is shown as text, and an app in a frame of its own
 * origin.
 */
import { useState } from "preact/hooks";
import { bytes, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { href } from "../router.ts";
import { AppFrame, isApp } from "./app-frame.tsx";
import { JsonView, LongText } from "./json-view.tsx";
import { Markdown, SafeLink } from "./markdown.tsx";

type Block = Readonly<Record<string, unknown>>;

const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/i;
const AUDIO = /^(audio|video)\/[\w.+-]+$/i;
const BASE64 = /^[A-Za-z0-9+/=_\s-]*$/;
const MAX_MEDIA = 30 * 1024 * 1024;

export function Result({ value }: { value: unknown }) {
  const [raw, setRaw] = useState(false);
  const result = isBlock(value) ? value : {};
  const structured = result["structuredContent"];
  const all = blocksOf(result);
  // Servers repeat what is structured as text, for clients that know only that.
  const blocks = structured === undefined ? all : all.filter((block) => !saysTheSame(block, structured));
  return (
    <div class={result["isError"] === true ? "result result-bad" : "result"}>
      <div class="result-bar">
        {result["isError"] === true && <span class="outcome outcome-bad">the tool reports an error</span>}
        <button type="button" class="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? "Show as content" : "Show as JSON"}
        </button>
      </div>
      {raw || (blocks.length === 0 && structured === undefined) ? (
        <div class="json">
          <JsonView value={value} />
        </div>
      ) : (
        <>
          {blocks.map((block, index) => (
            <Content key={index} block={block} />
          ))}
          {structured !== undefined && (
            <div class="json" role="group" aria-label="Structured content">
              <JsonView value={structured} />
            </div>
          )}
        </>
      )}
    </div>
  );
}

const MAX_COMPARED_LENGTH = 100_000;

function saysTheSame({ type, text }: Block, structured: unknown): boolean {
  if (type !== "text" || typeof text !== "string" || text.length > MAX_COMPARED_LENGTH) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function Content({ block }: { block: Block }) {
  const type = String(block["type"] ?? "");
  const mime = String(block["mimeType"] ?? "");
  if (type === "text") return <TextContent text={String(block["text"] ?? "")} mime={mime} />;
  if (type === "image" || type === "audio") return <Media data={block["data"]} mime={mime} />;
  if (type === "resource" && isBlock(block["resource"])) return <ResourceContent contents={block["resource"]} />;
  if (type === "resource_link") {
    return <ResourceLink title={String(block["title"] ?? block["name"] ?? "")} uri={String(block["uri"] ?? "")} />;
  }
  return (
    <div class="json">
      <JsonView value={block} />
    </div>
  );
}

/** A link to the resource's entry in the catalog, if it has one there. */
function ResourceLink({ title, uri }: { title: string; uri: string }) {
  const { resources } = useLive();
  const entry = resources?.find((row) => row.uri === uri);
  const text = visible(title || uri);
  return (
    <p class="link-block">
      {entry ? <a href={href(["catalog", "resources", entry.uri])}>{text}</a> : text} <code>{visible(uri)}</code>
    </p>
  );
}

function ResourceContent({ contents }: { contents: Block }) {
  const mime = String(contents["mimeType"] ?? "");
  const text = contents["text"];
  return (
    <figure class="resource">
      <figcaption>
        <code>{visible(String(contents["uri"] ?? ""))}</code> {visible(mime)}
      </figcaption>
      {isApp(contents) ? (
        <AppFrame html={String(text)} />
      ) : typeof text === "string" ? (
        <TextContent text={text} mime={mime} />
      ) : (
        <Media data={contents["blob"]} mime={mime} />
      )}
    </figure>
  );
}

function TextContent({ text, mime }: { text: string; mime: string }) {
  const json = /json/i.test(mime) || /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  if (json !== undefined) {
    return (
      <div class="json">
        <JsonView value={json} />
      </div>
    );
  }
  const isMarkdown = /markdown/i.test(mime) || (mime === "" && /^#{1,6} |\*\*|^[-*] |```|\]\(https?:/m.test(text));
  if (isMarkdown) return <Markdown text={text} />;
  if (/^https?:\/\/\S+$/.test(text.trim())) {
    return (
      <p>
        <SafeLink href={text.trim()} text={text.trim()} />
      </p>
    );
  }
  return (
    <pre class="text">
      <LongText text={text} />
    </pre>
  );
}

function Media({ data, mime }: { data: unknown; mime: string }) {
  if (typeof data !== "string" || !BASE64.test(data.slice(0, 1000))) return <p class="muted">No data</p>;
  const size = Math.floor((data.length * 3) / 4);
  const address = `data:${mime};base64,${data}`;
  if (size > MAX_MEDIA) return <p class="muted">{`${visible(mime)}, ${bytes(size)}: too large to show here`}</p>;
  return (
    <figure class="media">
      {IMAGE.test(mime) ? (
        <img src={address} alt={`what the server sent, ${mime}`} />
      ) : AUDIO.test(mime) ? (
        // biome-ignore lint/a11y/useMediaCaption: servers send none.
        <audio src={address} controls />
      ) : null}
      <figcaption>
        {visible(mime || "bytes")}, {bytes(size)}{" "}
        <a href={`data:application/octet-stream;base64,${data}`} download="content">
          Save
        </a>
      </figcaption>
    </figure>
  );
}

function blocksOf(result: Block): Block[] {
  for (const key of ["content", "contents", "messages"]) {
    const value = result[key];
    if (!Array.isArray(value)) continue;
    return value.filter(isBlock).flatMap((item) => {
      if (key === "contents") return [{ type: "resource", resource: item }];
      if (key === "content") return [item];
      const inner = item["content"];
      const role = { type: "text", text: `**${String(item["role"] ?? "")}**`, mimeType: "text/markdown" };
      return [role, ...(Array.isArray(inner) ? inner.filter(isBlock) : isBlock(inner) ? [inner] : [])];
    });
  }
  return [];
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  if (text.length > 5_000_000) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
