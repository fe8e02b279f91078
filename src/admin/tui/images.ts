/**
 * Pictures on terminals that can show them: kitty's and iTerm2's protocols.
 *
 * Invariant: only base64 goes to the terminal, never a server's own bytes.
 */
export type ImageProtocol = "kitty" | "iterm2";

/** Whether and how the terminal shows pictures, as far as its variables tell. */
export function imageProtocol(env: NodeJS.ProcessEnv): ImageProtocol | undefined {
  const { TERM = "", TERM_PROGRAM = "", KITTY_WINDOW_ID, TMUX } = env;
  if (TMUX !== undefined) return undefined;
  if (KITTY_WINDOW_ID !== undefined || TERM === "xterm-kitty" || /^ghostty$/i.test(TERM_PROGRAM)) return "kitty";
  return /^(iTerm\.app|WezTerm)$/.test(TERM_PROGRAM) ? "iterm2" : undefined;
}

export interface Picture {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

const chunk = 4096;

/** Returns what draws the picture at a row; undefined if this protocol cannot. */
export function drawImage(
  protocol: ImageProtocol,
  { mimeType, data }: Picture,
  place: { readonly row: number; readonly rows: number },
): string | undefined {
  const safe = data.replace(/[^A-Za-z0-9+/=]/g, "");
  if (!mimeType.startsWith("image/") || mimeType === "image/svg+xml") return undefined;
  const at = `\u001b[${place.row};2H`;
  if (protocol === "iterm2") {
    return `${at}\u001b]1337;File=inline=1;height=${place.rows};preserveAspectRatio=1:${safe}\u0007`;
  }
  // Kitty decodes PNG only.
  if (mimeType !== "image/png") return undefined;
  const parts = safe.match(new RegExp(`.{1,${chunk}}`, "g")) ?? [];
  const sent = parts.map((part, index) => {
    const head = index === 0 ? `a=T,f=100,r=${place.rows},` : "";
    return `\u001b_G${head}m=${index < parts.length - 1 ? 1 : 0};${part}\u001b\\`;
  });
  return at + sent.join("");
}

/** Removes the pictures that kitty shows; other terminals forget them with the next frame. */
export function clearImages(protocol: ImageProtocol): string {
  return protocol === "kitty" ? "\u001b_Ga=d\u001b\\" : "";
}
