/**
 * Clients' files on another disk than the journal and the temporary files, and a file that is a
 * disk of its own.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Machine } from "../../../../src/app/clients/client.ts";
import { Journal } from "../../../../src/app/clients/journal.ts";
import { apply, fileOf, planLink } from "../../../../src/app/clients/linking.ts";
import { clients } from "../../../../src/app/clients/table.ts";
import { undoEntry } from "../../../../src/app/clients/undoing.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

const OTHER = "/dev/shm";
const isOther = existsSync(OTHER) && statSync(OTHER).dev !== statSync(tmpdir()).dev;
const TEXT = '{\n  // mine\n  "look": 1\n}\n';
const link = {
  name: "goblin",
  gateway: { url: "http://127.0.0.1:3000/mcp" },
  program: { command: "goblin", args: [] },
};

/** Cursor's settings in a home below this folder, and Kiro's. */
async function homeIn(folder: string) {
  const root = mkdtempSync(join(folder, "goblin-disk-"));
  const state = mkdtempSync(join(tmpdir(), "goblin-disk-state-"));
  onDispose(() => {
    for (const made of [root, state]) rmSync(made, { recursive: true, force: true });
  });
  const machine: Machine = { platform: "linux", home: root, env: {}, cwd: root };
  const chosen = ["cursor", "kiro"].map((id) => clients.find((client) => client.id === id)!);
  const files = await Promise.all(chosen.map(async (client) => (await fileOf(client, machine, "user"))!));
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, TEXT, { mode: 0o640 });
  }
  const journal = new Journal({ XDG_STATE_HOME: state });
  const install = async () => {
    const planned = await Promise.all(
      chosen.map((client) => planLink(client, machine, { scope: "user", links: [link], mode: undefined })),
    );
    return apply(
      { command: "install" },
      planned.flatMap((one) => (one?.state === "planned" ? one.plan : [])),
      journal,
    );
  };
  return { files, journal, machine, install };
}

test.skipIf(!isOther)(
  "a home on another disk is changed and restored, and nothing is left beside the files",
  async () => {
    const { files, journal, machine, install } = await homeIn(OTHER);
    expect((await install()).failures).toEqual([]);
    for (const file of files) expect(readFileSync(file, "utf8")).toContain('"goblin"');
    await undoEntry((await journal.list())[0]!, { journal, machine });
    for (const file of files) {
      expect(readFileSync(file, "utf8")).toBe(TEXT);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      expect(readdirSync(dirname(file))).toHaveLength(1);
    }
  },
);

test("a file that is mounted on its own is named and untouched, and the rest goes on", async (context) => {
  const { files, install } = await homeIn(tmpdir());
  const [cursor, kiro] = files as [string, string];
  const source = join(dirname(cursor), "..", "mounted.json");
  writeFileSync(source, TEXT);
  if (spawnSync("mount", ["--bind", source, cursor]).status !== 0) return context.skip("only root may mount");
  onDispose(() => void spawnSync("umount", [cursor]));
  const { failures } = await install();
  expect(failures.map(({ plan, reason }) => [plan.client.id, reason])).toEqual([
    ["cursor", "it is mounted on its own, as in a container, so it cannot be replaced; edit it by hand"],
  ]);
  expect(readFileSync(cursor, "utf8")).toBe(TEXT);
  expect(readdirSync(dirname(cursor))).toEqual(["mcp.json"]);
  expect(readFileSync(kiro, "utf8")).toContain('"goblin"');
});
