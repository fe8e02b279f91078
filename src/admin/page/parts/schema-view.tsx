/** A JSON Schema for people: one row for each property, with its type, limits and description. */
import { useState } from "preact/hooks";
import { outline } from "../../forms/schema-outline.ts";
import { visible } from "../format.ts";
import { JsonView } from "./json-view.tsx";

export function SchemaView({ schema }: { schema: Record<string, unknown> }) {
  const [raw, setRaw] = useState(false);
  const rows = outline(schema);
  return (
    <>
      {raw ? (
        <div class="json">
          <JsonView value={schema} />
        </div>
      ) : rows.length === 0 ? (
        <p class="muted">Nothing.</p>
      ) : (
        <ul class="schema">
          {rows.map((row, index) => (
            <li key={index} style={{ paddingLeft: `${row.depth * 18}px` }}>
              <code>{visible(row.name)}</code> <span class="muted">{visible(row.type)}</span>
              {row.required && <span class="required"> required</span>}
              {row.limits !== "" && <span class="muted"> {visible(row.limits)}</span>}
              {row.description !== "" && <p>{visible(row.description)}</p>}
            </li>
          ))}
        </ul>
      )}
      <button type="button" class="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
        {raw ? "Show for people" : "Show as JSON"}
      </button>
    </>
  );
}
