/**
 * `goblin skill`: writes a SKILL.md that tells agents how to use the gateway from a shell. What
 * changes is shown; `goblin undo` takes it back.
 */
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { clean } from "../../../lib/text/clean.ts";
import { estimateTokens } from "../../../lib/text/token-estimate.ts";
import { FileError, readState, replaceFile } from "../../clients/files.ts";
import { Journal } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { thisMachine } from "../clients/machine.ts";
import { printJson } from "../terminal/table.ts";
import { skillText } from "./skill-text.ts";

export interface SkillOptions {
  readonly dir?: string | undefined;
  readonly print?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const FILE_MODE = 0o644;

export async function skill({ dir, print, json }: SkillOptions): Promise<number> {
  const text = skillText(isOnPath("goblin") ? "goblin" : "npx -y goblin-mcp");
  if (print) {
    process.stdout.write(text);
    return 0;
  }
  const file = join(dir === undefined ? usualFolder() : resolve(dir), "goblin", "SKILL.md");
  const after = Buffer.from(text);
  try {
    const before = await readState(file);
    const isNew = !before?.bytes.equals(after);
    const change = { file, what: "skill", before: before?.bytes, after, mode: before?.mode ?? FILE_MODE };
    const id = isNew ? await new Journal(process.env).add({ command: "skill" }, [change]) : undefined;
    if (isNew) await replaceFile(file, { before, after, mode: FILE_MODE });
    const tokens = estimateTokens(text);
    if (json) printJson({ file, state: isNew ? "written" : "unchanged", tokens, undo: id ?? null });
    else {
      if (before && isNew) for (const line of lineDiff(before.bytes.toString("utf8"), text)) console.log(clean(line));
      console.log(clean(`${file}: ${isNew ? "written" : "unchanged"}, about ${tokens} tokens`));
      if (id !== undefined) console.log(`To take it back: goblin undo ${id}`);
    }
    return 0;
  } catch (error) {
    throw error instanceof FileError ? new Error(`${file}: ${error.message}`) : error;
  }
}

/** Claude Code's, if it is here; else the one that other agents share. */
function usualFolder(): string {
  const { home } = thisMachine();
  const isHere = existsSync(join(home, ".claude"));
  return join(home, isHere ? ".claude" : ".agents", "skills");
}

function isOnPath(command: string): boolean {
  const names = process.platform === "win32" ? [`${command}.cmd`, `${command}.exe`] : [command];
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => names.some((name) => existsSync(join(folder, name))));
}
