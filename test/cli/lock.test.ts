/** `goblin lock` as its users run it, with the commands of docs/lock.md. */
import { existsSync, readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { disposeAll } from "../fixtures/peers.ts";
import { lockScene as scene, nowTool as tool } from "./lock-scene.ts";

afterEach(disposeAll);

test("the commands of docs/lock.md do what it says", async () => {
  const { clock, home, file } = await scene();
  const [, shown = ""] = /```sh\n([\s\S]*?)```/.exec(readFileSync("docs/lock.md", "utf8")) ?? [];
  const [add, verify, diff, approve] = shown.trim().split("\n") as [string, string, string, string];
  const run = (line: string, digest = "") => home.goblin(...line.replace("sha256:…", digest).split(" ").slice(1));

  expect(await run(verify)).toMatchObject({ code: 1, out: expect.stringMatching(/clock +new +all/) });
  expect(await run(add)).toMatchObject({ code: 0, out: expect.stringMatching(/clock +approved +0 +sha256:/) });
  expect(existsSync(file)).toBe(true);

  clock.setScript({ lists: { tools: [{ ...tool, description: "Tells the time, and more." }] } });
  const different = await run(diff);
  expect(different.code).toBe(1);
  expect(different.out).toContain("clock tool now: changed, wording, listed");
  expect(different.out).toMatch(/"description": "Tells the time\." +│ {3}"description": "Tells the time, and more\."/);
  const [, digest] = /goblin lock approve clock --expect (sha256:[0-9a-f]{64})/.exec(different.out) ?? [];
  expect(await run(approve, digest!)).toMatchObject({ code: 0, out: `approved clock, ${digest}\n` });
  expect((await run(verify)).code).toBe(0);
});
