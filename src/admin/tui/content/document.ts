/**
 * Draws blocks as lines with a cursor, and folds and unfolds them.
 *
 * Cached, because a document can be large and every frame needs it.
 */
import { cleanLines } from "../../../lib/text/clean.ts";
import { formatBytes } from "../../../lib/text/format.ts";
import { wrap } from "../../../lib/text/width.ts";
import type { Layout } from "../state/layout.ts";
import type { Viewer } from "../state/stage.ts";
import { type Line, line, span } from "../text/line.ts";
import type { Block } from "./blocks.ts";
import { allPaths, deepPaths, jsonLines, type TreeLine } from "./json-lines.ts";

export interface DocumentLine extends TreeLine {
  /** The block that the line belongs to. */
  readonly block: number;
}

/** Returns the number of rows for a document below its heading. */
export function documentHeight(layout: Layout): number {
  return layout.body - 2;
}

/** Two cells at the left for the cursor, one at the right for the scroll bar. */
export const documentWidth = (layout: Layout): number => layout.columns - 4;

export function createViewer(blocks: readonly Block[]): Viewer {
  const folded = blocks.flatMap((block, index) =>
    block.kind === "json" ? deepPaths(block.value, String(index), { from: 3, size: 4000 }) : [],
  );
  return { blocks, folded: new Set(folded), cursor: 0 };
}

let last: { readonly viewer: Viewer; readonly width: number; readonly lines: readonly DocumentLine[] } | undefined;

export function documentLines(viewer: Viewer, width: number): readonly DocumentLine[] {
  const { blocks, folded } = viewer;
  if (last === undefined || last.viewer.blocks !== blocks || last.viewer.folded !== folded || last.width !== width) {
    const lines = blocks.flatMap((block, index) => {
      const gap: TreeLine[] = index === 0 ? [] : [{ line: line("") }];
      const heading: TreeLine[] = block.title ? [{ line: line(block.title, "accent") }] : [];
      return [...gap, ...heading, ...blockLines(block, index, { width, folded })].map((one) => ({
        ...one,
        block: index,
      }));
    });
    last = { viewer, width, lines };
  }
  return last.lines;
}

function blockLines(block: Block, index: number, page: { width: number; folded: ReadonlySet<string> }): TreeLine[] {
  switch (block.kind) {
    case "text":
      return cleanLines(block.text)
        .flatMap((one) => wrap(one, page.width))
        .map((one) => ({ line: line(one) }));
    case "json":
      return jsonLines(block.value, String(index), page);
    case "media":
      return [{ line: mediaLine(block) }];
  }
}

function mediaLine({ mimeType, data }: Extract<Block, { kind: "media" }>): Line {
  const size = formatBytes(Math.floor((data.length * 3) / 4));
  return [span(`[${mimeType}, ${size}]`), span("  w saves it, v shows it where the terminal can", "quiet")];
}

/** Folds or unfolds what begins at the cursor. */
export function toggleFold(viewer: Viewer, width: number): Viewer {
  const path = documentLines(viewer, width)[viewer.cursor]?.fold;
  if (path === undefined) return viewer;
  const folded = new Set(viewer.folded);
  if (!folded.delete(path)) folded.add(path);
  return { ...viewer, folded };
}

/** Folds everything below the top, or unfolds everything. */
export function foldAll(viewer: Viewer, fold: boolean): Viewer {
  const paths = viewer.blocks.flatMap((block, index) =>
    block.kind === "json" ? allPaths(block.value, String(index)).slice(1) : [],
  );
  return { ...viewer, folded: new Set(fold ? paths : []), cursor: 0 };
}

/** Returns the block under the cursor; at the top, a picture or sound if there is one. */
export function blockAtCursor(viewer: Viewer, width: number): Block | undefined {
  const media = viewer.cursor === 0 ? viewer.blocks.find(({ kind }) => kind === "media") : undefined;
  if (media !== undefined) return media;
  return viewer.blocks[documentLines(viewer, width)[viewer.cursor]?.block ?? 0];
}
