import { expect, test } from "vitest";
import { fileExtension } from "../../../../src/lib/text/file-extension.ts";

test.each([
  ["image/png", "png"],
  ["Text/HTML; charset=utf-8", "html"],
  ["audio/x-wav", "wav"],
  ["application/x-unknown", "bin"],
  ["constructor", "bin"],
  ["", "bin"],
])("content of %j is saved as .%s", (mediaType, extension) => {
  expect(fileExtension(mediaType)).toBe(extension);
});
