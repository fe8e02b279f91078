/**
 * What a listen stream that broke may have missed is reported as soon as another one stands, no
 * matter what opened it.
 */
import { expect, test } from "vitest";
import { Listener } from "../../../../src/mcp/peers/modern/listener.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

function rig() {
  const started: { id: number; uris: string[] }[] = [];
  const missed: string[][] = [];
  const ends = new Map<number, () => void>();
  const listener = new Listener({
    start: (params) => {
      const { notifications } = JSON.parse(params);
      const id = started.length + 1;
      started.push({ id, uris: notifications.resourceSubscriptions ?? [] });
      const answer = new Promise<Answer>((resolve) => ends.set(id, () => resolve({ ok: true, raw: "{}" })));
      return { id, answer };
    },
    stop: () => {},
    missed: (_kinds, uris) => missed.push([...uris]),
  });
  const turn = () => new Promise(setImmediate);
  const acknowledge = async () => {
    await turn();
    const { id, uris } = started.at(-1)!;
    listener.acknowledged(id, ACKNOWLEDGED, { notifications: { resourceSubscriptions: uris } });
    await turn();
    return id;
  };
  const end = async (id: number) => {
    ends.get(id)?.();
    await turn();
  };
  return { listener, missed, acknowledge, end };
}

test("a stream that breaks before somebody else subscribes: its resources are reported", async () => {
  const { listener, missed, acknowledge, end } = rig();
  void listener.add("resourceSubscriptions", "a:///1");
  const first = await acknowledge();
  await end(first);
  void listener.add("resourceSubscriptions", "b:///2");
  await acknowledge();
  expect(missed).toEqual([["a:///1"]]);
  listener.close();
});

test("a stream that is replaced in good order has missed nothing", async () => {
  const { listener, missed, acknowledge } = rig();
  void listener.add("resourceSubscriptions", "a:///1");
  await acknowledge();
  void listener.add("resourceSubscriptions", "b:///2");
  await acknowledge();
  expect(missed).toEqual([]);
  listener.close();
});

test("what was unsubscribed meanwhile is not reported", async () => {
  const { listener, missed, acknowledge, end } = rig();
  void listener.add("resourceSubscriptions", "a:///1");
  await acknowledge();
  void listener.add("resourceSubscriptions", "b:///2");
  await end(await acknowledge());
  void listener.remove("resourceSubscriptions", "a:///1");
  await acknowledge();
  expect(missed).toEqual([["b:///2"]]);
  listener.close();
});
