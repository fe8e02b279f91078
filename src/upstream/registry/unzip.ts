/**
 * Reads the files of a zip archive.
 *
 * Invariant: no file gets out of the folder that it is unpacked into, and no archive unpacks to
 * more than `MAX_BYTES`. Links are left out.
 */
import { inflateRawSync } from "node:zlib";

export interface ZippedFile {
  /** With forward slashes, below the archive's root. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

const MAX_BYTES = 1024 * 1024 * 1024;
const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const MAX_COMMENT_LENGTH = 65_557;
const STORED = 0;
const DEFLATED = 8;
const FILE_TYPE = 0o170000;
const LINK = 0o120000;

/** @throws Error if it is no zip archive, or one that must not be unpacked */
export function unzip(archive: Buffer): ZippedFile[] {
  try {
    return filesIn(archive);
  } catch (error) {
    // A number that points out of the archive.
    if (error instanceof RangeError) throw new Error("the zip archive is damaged", { cause: error });
    throw error;
  }
}

function filesIn(archive: Buffer): ZippedFile[] {
  const end = archive.lastIndexOf(signature(END));
  if (end < 0 || archive.length - end > MAX_COMMENT_LENGTH) throw new Error("it is not a zip archive");
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  let total = 0;
  const files: ZippedFile[] = [];
  for (let i = 0; i < count; i++) {
    if (archive.readUInt32LE(at) !== CENTRAL) throw new Error("the zip archive is damaged");
    const [method, packed, size] = [
      archive.readUInt16LE(at + 10),
      archive.readUInt32LE(at + 20),
      archive.readUInt32LE(at + 24),
    ];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    const mode = archive.readUInt32LE(at + 38) >>> 16;
    const local = archive.readUInt32LE(at + 42);
    const path = archive.toString("utf8", at + 46, at + 46 + nameLength!);
    at += 46 + nameLength! + extraLength! + commentLength!;
    if (path.endsWith("/") || (mode & FILE_TYPE) === LINK) continue;
    if (!isInside(path)) throw new Error(`the archive has a file outside of its folder: ${path}`);
    total += size;
    if (total > MAX_BYTES) throw new Error(`the archive has more than ${MAX_BYTES} bytes`);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const data = archive.subarray(start, start + packed);
    if (data.length < packed || (method === STORED && packed !== size)) throw new Error("the zip archive is damaged");
    files.push({ path, bytes: unpacked(data, method, size), isExecutable: (mode & 0o111) !== 0 });
  }
  return files;
}

function unpacked(data: Buffer, method: number, size: number): Buffer {
  if (method === STORED) return data;
  if (method !== DEFLATED) throw new Error(`the archive is packed in a way that is not known (${method})`);
  return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
}

function isInside(path: string): boolean {
  const isOdd = path === "" || path.startsWith("/") || /[\\\0]|^[A-Za-z]:/.test(path);
  return !isOdd && !path.split("/").includes("..");
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
