/**
 * Two clients at the same time, with the same request ids and the same progress token: neither ever
 * sees the other's progress, log messages or questions, whatever version each speaks and whatever
 * server both use.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";
import type { Backend } from "./features.ts";
import { connectSpeaker, replyOf, type Speaker, type Version, type Way } from "./speakers.ts";
import type { Message } from "./wires.ts";

const servers = variants<Backend & { share: "all" | "session" }>(
  [
    { era: "legacy", transport: "http", share: "all" },
    { era: "legacy", transport: "stdio", share: "all" },
    { era: "modern", transport: "stdio", share: "all" },
  ],
  [
    { era: "legacy", transport: "sse", share: "all" },
    { era: "legacy", transport: "stdio", share: "session" },
    { era: "modern", transport: "http", share: "all" },
  ],
);

const pairs: [Version, Way, Version, Way][] = [
  ["2025-11-25", "http", "2025-06-18", "http"],
  ["2025-11-25", "http", "2026-07-28", "http"],
  ["2026-07-28", "http", "2026-07-28", "http"],
  ["2024-11-05", "http", "2026-07-28", "stdio"],
];

/**
 * Whether what a server says in one call can be told from what it says in others at the same time.
 */
function tellsApart({ era, transport, share }: (typeof servers)[number], what: "log" | "question"): boolean {
  return transport === "http" || share === "session" || (era === "modern" && what === "question");
}

const text = (answer: Message): string => answer.result.content[0].text;

describe.each(servers)("a $era server over $transport, share $share", (backend) => {
  const { era, transport, share } = backend;
  let server: Scripted;
  let goblin: RunningGoblin;
  beforeAll(async () => {
    server = await startScripted({ era, transport, name: "b" });
    goblin = await startGoblin({ mcpServers: { b: { ...server.entry, share } } });
  });
  afterAll(disposeAll);

  test.each(pairs)("%s %s beside %s %s", async (one, oneWay, two, twoWay) => {
    const ada = await connectSpeaker({ goblin, version: one, way: oneWay, name: "ada" });
    const bob = await connectSpeaker({ goblin, version: two, way: twoWay, name: "bob" });
    await progress(ada, bob);
    await logs(ada, bob, tellsApart(backend, "log"));
    await questions(ada, bob, tellsApart(backend, "question"));
    for (const who of [ada, bob]) who.close();
    expect(await server.events("violation")).toEqual([]);
  });
});

/** Both report with the same token; how many steps there are tells whose they are. */
async function progress(ada: Speaker, bob: Speaker): Promise<void> {
  const run = (who: Speaker, steps: number) =>
    who.request("tools/call", { name: "b_progress", arguments: { steps, ms: 3 } }, { token: 1 });
  const answers = await Promise.all([run(ada, 7), run(bob, 9), run(ada, 7), run(bob, 9)]);
  expect(answers.map(text)).toEqual(["progressed 7", "progressed 9", "progressed 7", "progressed 9"]);
  const totals = (who: Speaker) => who.heard.splice(0).map((m) => [m.method, m.params.progressToken, m.params.total]);
  expect(totals(ada)).toEqual(Array.from({ length: 14 }, () => ["notifications/progress", 1, 7]));
  expect(totals(bob)).toEqual(Array.from({ length: 18 }, () => ["notifications/progress", 1, 9]));
}

/** Every message says whose it is; where that cannot be known it must reach nobody. */
async function logs(ada: Speaker, bob: Speaker, isSure: boolean): Promise<void> {
  for (const who of [ada, bob]) await who.wantLogs("info");
  const run = (who: Speaker) =>
    who.request("tools/call", { name: "b_log", arguments: { level: "error", text: who.name } });
  await Promise.all([ada, bob, ada, bob, ada, bob].map(run));
  await run(ada);
  await run(bob);
  const heard = (who: Speaker) =>
    who.heard.filter((m) => m.method === "notifications/message").map((m) => m.params.data);
  await until(() => heard(ada).length > 0 && heard(bob).length > 0, {
    what: "the messages that belong to a call alone",
  });
  expect(new Set(heard(ada))).toEqual(new Set(["ada"]));
  expect(new Set(heard(bob))).toEqual(new Set(["bob"]));
  if (isSure) expect([heard(ada).length, heard(bob).length]).toEqual([4, 4]);
}

/** Answers say who gave them; a question whose call is not known is refused, not guessed. */
async function questions(ada: Speaker, bob: Speaker, isSure: boolean): Promise<void> {
  const run = async (who: Speaker) => {
    const answer = await who.request("tools/call", { name: "b_ask", arguments: { kind: "roots" } });
    return JSON.parse(text(answer));
  };
  const both = await Promise.all([ada, bob, ada, bob].map(run));
  const own = (who: Speaker) => replyOf(who.name, { method: "roots/list" });
  for (const [i, who] of [ada, bob, ada, bob].entries()) {
    if (isSure || !both[i].error) expect(both[i]).toEqual(own(who));
    else expect(both[i].error.message).toMatch(/calls of several clients are under way/);
  }
  expect(await run(ada)).toEqual(own(ada));
  expect(await run(bob)).toEqual(own(bob));
}
