/**
 * The places at one server: how many there are, who may wait, and whose turn it is.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Bulkhead } from "../../../../src/upstream/servers/bulkhead.ts";

const newCall = (account = "a"): Call =>
  new Call({ method: "tools/call", params: {}, text: "{}", client: { account } as Client, emit: () => {} });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const SHARE =
  'LimitExceeded: server "s" has 3 calls under way (limits.inFlightPerServer) and this token or address its share of those that wait, 2 (queuePerServer is 4); try again later';
const FULL =
  'LimitExceeded: server "s" has 3 calls under way (limits.inFlightPerServer) and no room for more to wait (queuePerServer is 4); try again later';

describe("bulkhead", () => {
  test("admits a share of each account, lets a share of each wait, refuses the rest, and takes turns (B4)", async () => {
    const struck: string[] = [];
    const bulkhead = new Bulkhead({ inFlight: 3, queue: 4 }, (limit) => struck.push(limit));
    const [first, second] = [newCall(), newCall()];
    expect([bulkhead.enter(first, "s"), bulkhead.enter(second, "s")]).toEqual([undefined, undefined]);
    const order: string[] = [];
    const wait = (account: string, name: string) => {
      const call = newCall(account);
      void bulkhead.enter(call, "s")!.then(() => order.push(name));
      return call;
    };
    const third = wait("a", "a3");
    // The last place is for others.
    const other = newCall("b");
    expect(bulkhead.enter(other, "s")).toBeUndefined();
    const fourth = wait("a", "a4");
    expect(() => bulkhead.enter(newCall(), "s")).toThrow(SHARE);
    const [c, d] = [wait("c", "c1"), wait("d", "d1")];
    expect(() => bulkhead.enter(newCall("e"), "s")).toThrow(FULL);
    expect(struck.filter((limit) => limit === "queuePerServer")).toHaveLength(2);
    expect([bulkhead.active, bulkhead.queued]).toEqual([3, 4]);
    for (const call of [first, second, other, c, d, third, fourth]) {
      bulkhead.leave(call);
      await settled();
    }
    // An account that has its share lets the others go first.
    expect(order).toEqual(["c1", "a3", "d1", "a4"]);
    expect([bulkhead.active, bulkhead.queued]).toEqual([0, 0]);
  });

  test("a call that is cancelled while it waits gives up its place", async () => {
    const bulkhead = new Bulkhead({ inFlight: 1, queue: 1 }, () => {});
    const first = newCall();
    bulkhead.enter(first, "s");
    const waiting = newCall();
    const place = bulkhead.enter(waiting, "s");
    waiting.cancel("client");
    await expect(place).rejects.toMatchObject({ code: "CANCELLED" });
    expect(bulkhead.queued).toBe(0);
    let entered = false;
    void bulkhead.enter(newCall(), "s")?.then(() => {
      entered = true;
    });
    bulkhead.leave(first);
    await settled();
    expect([entered, bulkhead.active]).toEqual([true, 1]);
  });

  test("places that a new config adds go to those who wait", async () => {
    const bulkhead = new Bulkhead({ inFlight: 1, queue: 8 }, () => {});
    bulkhead.enter(newCall(), "s");
    const places = ["a", "b"].map((account) => bulkhead.enter(newCall(account), "s"));
    bulkhead.configure({ inFlight: 3, queue: 8 });
    await Promise.all(places);
    expect([bulkhead.active, bulkhead.queued]).toEqual([3, 0]);
  });

  test("counts hold for many accounts that come and go", () => {
    const bulkhead = new Bulkhead({ inFlight: 2, queue: 4 }, () => {});
    const staying = newCall("stays");
    bulkhead.enter(staying, "s");
    for (let n = 0; n < 5000; n++) {
      const call = newCall(`passes ${n}`);
      expect(bulkhead.enter(call, "s")).toBeUndefined();
      bulkhead.leave(call);
    }
    bulkhead.leave(staying);
    expect(bulkhead.active).toBe(0);
  });
});

/** What happens: a call of this account comes, or this one of those under way or waiting ends. */
type Step = { readonly comes: string } | { readonly leaves: number } | { readonly gives: number };

const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ comes: fc.constantFrom("a", "a", "a", "b", "c", "d") }),
    fc.record({ leaves: fc.nat() }),
    fc.record({ gives: fc.nat() }),
  ),
  { minLength: 20, maxLength: 150 },
);

test("law: while an account waits no other is served twice before it, and no place of its share stays free", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 7 }), steps, async (inFlight, all) => {
      const bulkhead = new Bulkhead({ inFlight, queue: 40 }, () => {});
      const problems: unknown[] = [];
      const active: Call[] = [];
      const waiting: Call[] = [];
      /** Of an account that waits: who was served since it has a claim to be next. */
      const served = new Map<string, Set<string>>();
      const holds = (account: string): number => active.filter(({ client }) => client.account === account).length;
      const isInShare = (held: number): boolean => held < inFlight - active.length;
      const serve = (call: Call): void => {
        const { account } = call.client;
        const others = new Set(waiting.map(({ client }) => client.account));
        others.delete(account);
        for (const other of others) {
          if (!isInShare(holds(other))) continue;
          expect(served.get(other)!.has(account), `${account} was served twice, ${other} waits`).toBe(false);
          served.get(other)!.add(account);
        }
        served.get(account)!.clear();
        waiting.splice(waiting.indexOf(call), 1);
        active.push(call);
      };
      const come = (account: string): void => {
        const call = newCall(account);
        if (!waiting.some(({ client }) => client.account === account)) served.set(account, new Set());
        try {
          const place = bulkhead.enter(call, "s");
          if (!place) return void active.push(call);
          waiting.push(call);
          place
            .then(
              () => serve(call),
              () => {},
            )
            .catch((problem) => problems.push(problem));
        } catch {
          expect(waiting.length).toBeGreaterThanOrEqual(20);
        }
      };
      for (const step of all) {
        if ("comes" in step) come(step.comes);
        else if ("gives" in step && waiting.length > 0) {
          const [call] = waiting.splice(step.gives % waiting.length, 1);
          call!.cancel("client");
        } else if ("leaves" in step && active.length > 0) {
          const [call] = active.splice(step.leaves % active.length, 1);
          bulkhead.leave(call!);
          await settled();
        }
        expect(problems).toEqual([]);
        expect(waiting.filter(({ client }) => isInShare(holds(client.account)))).toEqual([]);
        expect([bulkhead.active, bulkhead.queued]).toEqual([active.length, waiting.length]);
      }
    }),
  );
});
