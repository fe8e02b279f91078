/** Reads a body to its end. Returns undefined as soon as it has more bytes than `most`. */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null | undefined,
  most: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
