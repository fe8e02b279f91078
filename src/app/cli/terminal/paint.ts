/**
 * Adds colours on a terminal: never in a pipe, on a dumb terminal, or with NO_COLOR set
 * (no-color.org).
 */
const CODES = { bold: 1, red: 31, green: 32, yellow: 33, dim: 90 } as const;

export type Colour = keyof typeof CODES;
export type Paint = (colour: Colour | undefined, text: string) => string;

export function painter(stream: { readonly isTTY?: boolean | undefined }, env = process.env): Paint {
  const plain = stream.isTTY !== true || Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb";
  return (colour, text) => {
    if (plain || colour === undefined || text === "") return text;
    return `\u001b[${CODES[colour]}m${text}\u001b[0m`;
  };
}
