/**
 * Reads recordings: the segments of a folder, their frames, and what the servers offered.
 *
 * Invariant: unreadable parts are passed over, never guessed: a torn line, a segment that was
 * removed while it was read, a recording without an index. A recording in an older format is an
 * error.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { version } from "../../lib/package/version.ts";
import { type Frame, OlderFormat, readFrame } from "./frame.ts";
import { FORMAT, SEGMENT_NAME } from "./segment-files.ts";

const INDEX = ".index.json";
/** How much later than newer lines one is written: a request waits until its server is known. */
const MAX_DELAY_MS = 1000;

/**
 * Returns the segments of a recording, oldest first. `path`: a folder, one segment, or the folder
 * and how the names of a recording begin.
 */
export function segmentsOf(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return [path];
  const [dir, beginning] = stats ? [path, ""] : [dirname(path), basename(path)];
  const names = statSync(dir, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(dir) : [];
  const found = names.filter((name) => SEGMENT_NAME.test(name) && name.startsWith(beginning)).sort();
  if (found.length === 0) {
    throw new Error(`${path} holds no recording: name a folder that "goblin record" or "record" of a config wrote to`);
  }
  return found.map((name) => join(dir, name));
}

/** Returns the frames of a recording, in the order of their times. @throws Error if it is older */
export function* framesOf(path: string): Generator<Frame> {
  let late: Frame[] = [];
  for (const file of segmentsOf(path)) {
    const frames = [...late, ...framesIn(file)].sort((one, other) => one.t - other.t);
    const until = (frames.at(-1)?.t ?? 0) - MAX_DELAY_MS;
    const first = frames.findIndex(({ t }) => t > until);
    late = frames.splice(first === -1 ? frames.length : first);
    yield* frames;
  }
  yield* late;
}

function framesIn(file: string): Frame[] {
  try {
    return textOf(file)
      .split("\n")
      .flatMap((line) => readFrame(line) ?? []);
  } catch (error) {
    if (!(error instanceof OlderFormat)) throw error;
    throw new Error(
      `${file} ${error.message}, which an unreleased build wrote. Goblin ${version} reads format ${FORMAT}. Record again.`,
    );
  }
}

/** What one side of a recording offered. */
export interface Offers {
  readonly info?: Readonly<Record<string, unknown>> | null;
  readonly tools?: readonly unknown[];
  readonly prompts?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly templates?: readonly unknown[];
}

export interface Index {
  readonly gateway?: Offers;
  readonly servers?: Readonly<Record<string, Offers>>;
  /** The text of the index, for members that must keep their exact form. */
  readonly text: string;
}

/** Returns the newest index of a recording; an empty one if there is none. */
export function indexOf(path: string): Index {
  const segments = segmentsOf(path);
  for (const segment of segments.toReversed()) {
    const run = basename(segment).replace(/-\d{6}\.ndjson$/, "");
    const text = textOf(join(dirname(segment), run + INDEX));
    try {
      return { ...(JSON.parse(text) as object), text };
    } catch {
      // An older one may be readable.
    }
  }
  return { text: "{}" };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
