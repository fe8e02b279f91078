/** A document over the whole body: its heading, its lines with a cursor, a scroll bar. */
import { documentHeight, documentLines, documentWidth } from "../content/document.ts";
import type { Layout } from "../state/layout.ts";
import { windowTop } from "../state/select.ts";
import type { Viewer } from "../state/stage.ts";
import { fitLine, type Line, line, span } from "../text/line.ts";
import { scrollBar } from "./scroll-bar.ts";

export function viewerLines(viewer: Viewer, title: Line, layout: Layout): Line[] {
  const lines = documentLines(viewer, documentWidth(layout));
  const height = documentHeight(layout);
  const top = windowTop(viewer.cursor, lines.length, height);
  const isLong = lines.length > height;
  const place = isLong ? `  line ${viewer.cursor + 1} of ${lines.length}` : "";
  const bar = isLong ? scrollBar({ top, height, total: lines.length }) : [];
  const shown = lines.slice(top, top + height).map(({ line: drawn, fold }, row) => {
    const here = top + row === viewer.cursor;
    const mark = span(here ? (fold === undefined ? "› " : "▸ ") : "  ", "accent");
    const edge = bar[row];
    return [
      ...fitLine([mark, ...drawn], layout.columns - 1, edge !== undefined),
      ...(edge === undefined ? [] : [edge]),
    ];
  });
  return [[...title, span(place, "quiet")], line(""), ...shown];
}
