/**
 * What a listen stream that broke may have missed is reported as soon as another one stands,
 * whoever opened it.
 */
import { expect, test } from "vitest";
import { Listener } from "../../../src/peers/modern/listener.ts";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

function rig() {
  const started: { id: number; uris: string[] }[] = [];
  const missed: string[][] = [];
  const listener = new Listener({
    start: (params) => {
      const { notifications } = JSON.parse(params);
      const id = started.length + 1;
      started.push({ id, uris: notifications.resourceSubscriptions ?? [] });
      return { id, answer: new Promise(() => {}) };
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
  return { listener, missed, acknowledge };
}

test("a stream that breaks before somebody else subscribes: its resources are reported", async () => {
  const { listener, missed, acknowledge } = rig();
  void listener.add("a:///1");
  const first = await acknowledge();
  listener.ended(first);
  void listener.add("b:///2");
  await acknowledge();
  expect(missed).toEqual([["a:///1"]]);
  listener.close();
});

test("a stream that is replaced in good order has missed nothing", async () => {
  const { listener, missed, acknowledge } = rig();
  void listener.add("a:///1");
  await acknowledge();
  void listener.add("b:///2");
  await acknowledge();
  expect(missed).toEqual([]);
  listener.close();
});

test("what was unsubscribed meanwhile is not reported", async () => {
  const { listener, missed, acknowledge } = rig();
  void listener.add("a:///1");
  await acknowledge();
  void listener.add("b:///2");
  listener.ended(await acknowledge());
  void listener.remove("a:///1");
  await acknowledge();
  expect(missed).toEqual([["b:///2"]]);
  listener.close();
});
