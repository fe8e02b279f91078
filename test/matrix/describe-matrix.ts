/**
 * The matrix for one kind of server: every client version, on every transport, does everything. One
 * gateway and one server serve all clients, which are connected at the same time. With replicas,
 * each request of a client goes to another gateway.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type Scripted, startScripted } from "../fixtures/peers.ts";
import { startReplicas } from "../fixtures/replicas.ts";
import { type Backend, type Feature, features, impossible } from "./features.ts";
import { connectSpeaker, type Speaker, type SpeakerOptions, versions, type Way, ways } from "./speakers.ts";

type Start = (count: number, config: Record<string, unknown>) => Promise<SpeakerOptions["goblin"]>;

const everyClient = ways.flatMap((way) =>
  versions.map((version) => ({ way, version, title: `${version} over ${way}` })),
);

/** `start`: starts a number of gateways behind one address. */
export function describeMatrix(backend: Backend, replicas = 1, start: Start = startReplicas): void {
  const clients = everyClient.filter(({ way }) => replicas === 1 || way === "http");
  const speakers = new Map<string, Speaker>();
  let server: Scripted;
  let earlier: Way | undefined;
  let aheadMs = 0;

  beforeAll(async () => {
    const gone = { code: backend.era === "modern" ? -32602 : -32002, message: "Resource not found" };
    const rules = [{ method: "resources/read", name: "file:///logs/app.log", do: "error", ...gone }];
    vi.spyOn(Date, "now").mockImplementation(() => Math.floor(performance.timeOrigin + performance.now()) + aheadMs);
    server = await startScripted({ ...backend, name: "b", script: { rules } });
    const config = { mcpServers: { b: server.entry } };
    const goblin = replicas === 1 ? await startGoblin(config) : await start(replicas, config);
    for (const { way, version, title } of clients) {
      speakers.set(title, await connectSpeaker({ goblin, way, version, name: title }));
    }
  });
  afterAll(async () => {
    await disposeAll();
    vi.restoreAllMocks();
  });

  describe.each(clients)("$title", ({ version, title, way }) => {
    // A client is asked right after it cancelled a call (C1). Where streams do not tell calls
    // apart, others of its address are asked a few seconds later, and all others in ten minutes.
    beforeAll(() => {
      aheadMs += way === earlier ? 5000 : 600_000;
      earlier = way;
    });
    const cell = () => ({ speaker: speakers.get(title)!, server, backend });
    for (const feature of Object.keys(features) as Feature[]) {
      const not = impossible.find((entry) => entry.feature === feature && entry.versions.includes(version));
      if (not) test(`${feature}: impossible, ${not.reason}`, () => not.instead(cell()));
      else test(feature, () => features[feature](cell()));
    }
  });

  test("the server saw nothing that a correct client does not do, and was started once", async () => {
    // Without sessions, the server takes several gateways for one client, and their ids for its.
    const wrong = (await server.events("violation")).filter((r) => replicas === 1 || !/^request id/.test(r["what"]));
    expect(wrong).toEqual([]);
    expect(await server.events("start")).toHaveLength(1);
  });
}
