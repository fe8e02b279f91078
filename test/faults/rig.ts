/**
 * A gateway with one server that misbehaves and two that do not, and a client that uses the latter
 * the whole time.
 *
 * After every fault a test calls `others()`: the good servers answer correctly, each request once,
 * and their updates arrive. At the end `leftovers()` ends the gateway and looks for what it left
 * behind: processes, sockets, timers.
 */
import { expect } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import {
  type Connected,
  connectV1,
  type RawHttp,
  rawHttp,
  type Scripted,
  type ScriptedOptions,
  startScripted,
  until,
} from "../fixtures/peers.ts";
import { isRunning } from "../fixtures/processes.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came; tests look into it freely
type Message = any;

export interface Rig {
  readonly bad: Scripted;
  readonly goblin: Awaited<ReturnType<typeof startGoblin>>;
  readonly raw: RawHttp;
  /** Calls a tool of the bad server; there is exactly one answer. */
  call(tool: string, args?: Record<string, unknown>): Promise<Message>;
  /** The next `times` calls of echo at the bad server meet this fault. */
  fault(rule: Record<string, unknown>): void;
  state(): string | undefined;
  /** Waits until the bad server answers again, without waiting for its backoff. */
  recover(): Promise<void>;
  others(): Promise<void>;
  leftovers(): Promise<void>;
}

export interface RigOptions extends ScriptedOptions {
  config?: Record<string, unknown>;
  entry?: Record<string, unknown>;
  /** More servers, by id. */
  servers?: Record<string, Scripted>;
}

export async function startRig(options: RigOptions): Promise<Rig> {
  const before = resources();
  const bad = await startScripted({ name: "bad", ...options });
  const good = await startScripted({ name: "good" });
  const fine = await startScripted({ name: "fine", transport: "http" });
  const more = Object.entries(options.servers ?? {});
  const { callMs = 1000, ...timeouts } = (options.config?.["timeouts"] ?? {}) as { callMs?: number };
  const goblin = await startGoblin({
    mcpServers: {
      ...Object.fromEntries(more.map(([id, server]) => [id, server.entry])),
      // Its calls run out of time, never those of the others.
      bad: { ...bad.entry, timeoutMs: callMs, ...options.entry },
      good: good.entry,
      fine: fine.entry,
    },
    timeouts: { connectMs: 10_000, ...timeouts },
    limits: { resultBytes: 600_000, ...(options.config?.["limits"] as object) },
    backends: { ...(options.config?.["backends"] as object) },
  });
  await until(() => ["good", "fine"].every((id) => goblin.gateway.servers.status(id)?.state === "ready"));
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const watcher: Connected<{ subscribeResource(p: { uri: string }): Promise<unknown> }> = await connectV1({
    url: goblin.url,
  });
  for (const id of ["good", "fine"]) await watcher.client.subscribeResource({ uri: `${id}+text:///hello` });
  let count = 0;
  let touched = 0;
  const updates = (): number =>
    watcher.notifications.filter(({ method }) => method === "notifications/resources/updated").length;

  const once = async (name: string, args: Record<string, unknown>): Promise<Message> => {
    const id = `call-${++count}`;
    const { messages } = await raw.call("tools/call", { name, arguments: args }, id);
    const answers = messages.filter((message) => message.id === id);
    expect(answers).toHaveLength(1);
    return answers[0];
  };

  return {
    bad,
    goblin,
    raw,
    call: (tool, args = {}) => once(`bad_${tool}`, args),
    fault: (rule) => bad.setScript({ rules: [{ method: "tools/call", name: "echo", times: 1, ...rule }] }),
    state: () => goblin.gateway.servers.status("bad")?.state,
    async recover() {
      bad.setScript({});
      if (goblin.gateway.servers.status("bad")?.state !== "ready") {
        await goblin.gateway.servers.roster.get("bad")?.backend.restart();
      }
      expect(goblin.gateway.servers.status("bad")?.state).toBe("ready");
    },
    async others() {
      for (const id of ["good", "fine"]) {
        const text = `${id} ${++count}`;
        expect((await once(`${id}_echo`, { text })).result.structuredContent).toEqual({ text });
      }
      await Promise.all([good, fine].map((server) => server.control("touch", { uri: "text:///hello" })));
      touched += 2;
      await until(() => updates() === touched, { what: `${touched} updates, not ${updates()}` });
    },
    async leftovers() {
      await watcher.close();
      await goblin.gateway.close();
      const all = [bad, good, fine, ...Object.values(options.servers ?? {})];
      const pids = (await Promise.all(all.map((server) => server.events("start")))).flat();
      const stdio = pids.filter((record) => record["transport"] === "stdio").map(({ pid }) => pid);
      await until(() => stdio.every((pid) => !isRunning(pid)), { what: "the end of all children" });
      const violations = (await Promise.all(all.map((server) => server.events("violation")))).flat();
      expect(violations.map(({ what }) => what)).toEqual([]);
      await Promise.all(all.map((server) => server.stop()));
      await until(() => Object.entries(resources()).every(([kind, n]) => n <= (before[kind] ?? 0)), {
        what: `the end of all sockets, pipes and timers (before: ${JSON.stringify(before)}, now: ${JSON.stringify(resources())})`,
      });
    },
  };
}

/** What keeps this process alive, by kind. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (/TCP|Process|Pipe|Timeout/.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
