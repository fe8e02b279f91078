/**
 * JSON, folded and coloured. What is long is cut until somebody asks for it, so that 60 MB do not
 * stop the page. Everything is text: nothing that a server sends becomes an element.
 */
import { useState } from "preact/hooks";
import { visible } from "../format.ts";

const MAX_ENTRIES = 100;
const MAX_TEXT = 4000;
const OPEN_DEPTH = 3;

export function JsonView({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  if (typeof value !== "object" || value === null) {
    return (
      <div class="json-line">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  return <Branch value={value} name={name} depth={depth} />;
}

function Branch({ value, name, depth }: { value: object; name: string | undefined; depth: number }) {
  const isArray = Array.isArray(value);
  const size = isArray ? value.length : Object.keys(value).length;
  const [open, setOpen] = useState(depth < OPEN_DEPTH && size <= 50);
  const [shown, setShown] = useState(MAX_ENTRIES);
  const about = isArray ? `[ ${size} ]` : `{ ${size} }`;
  if (size === 0) {
    return (
      <div class="json-line">
        <Name name={name} />
        <span class="json-mark">{isArray ? "[]" : "{}"}</span>
      </div>
    );
  }
  const entries = open ? Object.entries(value).slice(0, shown) : [];
  return (
    <div class="json-branch">
      <button type="button" class="json-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">{open ? "▾" : "▸"}</span> <Name name={name} />
        <span class="json-mark">{about}</span>
      </button>
      {open && (
        <div class="json-inner">
          {entries.map(([key, inner]) => (
            <JsonView key={key} name={key} value={inner} depth={depth + 1} />
          ))}
          {size > shown && (
            <button type="button" class="quiet" onClick={() => setShown(shown + MAX_ENTRIES * 10)}>
              {size - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{visible(name)}: </span>;
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === "string") return <LongText text={JSON.stringify(value)} class="json-string" />;
  return <span class={`json-${value === null ? "null" : typeof value}`}>{String(value)}</span>;
}

/** A text of any length, cut until somebody asks for the rest. */
export function LongText({ text, class: style = "" }: { text: string; class?: string }) {
  const [most, setMost] = useState(MAX_TEXT);
  return (
    <span class={style}>
      {visible(text.slice(0, most))}
      {text.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most * 10)}>
          … {text.length - most} more characters
        </button>
      )}
    </span>
  );
}
