/** The file extension for content of a media type. */

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "application/zip": "zip",
  "text/plain": "txt",
  "text/html": "html",
  "text/markdown": "md",
};

/** Returns the extension without its dot: `bin` for an unknown type. Parameters are ignored. */
export function fileExtension(mediaType: string): string {
  const type = mediaType.split(";", 1)[0]!.trim().toLowerCase();
  return Object.hasOwn(extensions, type) ? extensions[type]! : "bin";
}
