/**
 * A call of a client that answers questions by repeating its request: every question gets an
 * answer, and every round is told something.
 */
import { expect, test } from "vitest";
import { Dialogue } from "../../../../src/core/session/dialogue.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

function start() {
  const call = new Call({ method: "tools/call", params: {}, text: "{}", client: {} as Client, emit: () => {} });
  const dialogue = new Dialogue();
  let end: (answer: Answer) => void = () => {};
  dialogue.run(
    call,
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  return { dialogue, end: (answer: Answer) => end(answer) };
}

const done: Answer = { ok: true, raw: '"done"' };

test("questions that are asked together are put together, and each gets its own answer", async () => {
  const { dialogue, end } = start();
  const first = dialogue.next();
  const asked = [dialogue.ask("roots/list", "{}"), dialogue.ask("elicitation/create", '{"message":"?"}')];
  expect(await first).toMatchObject([
    { key: "q1", method: "roots/list", params: "{}" },
    { key: "q2", method: "elicitation/create", params: '{"message":"?"}' },
  ]);
  dialogue.give(new Map([["q2", '"two"']]));
  // What was left out is asked for again.
  expect(await dialogue.next()).toMatchObject([{ key: "q1" }]);
  dialogue.give(new Map([["q1", '"one"']]));
  expect(await Promise.all(asked)).toEqual([
    { ok: true, raw: '"one"' },
    { ok: true, raw: '"two"' },
  ]);
  const last = dialogue.next();
  end(done);
  expect(await last).toEqual(done);
});

test("a question that is open when the call ends is answered with an error, and never put again", async () => {
  const { dialogue, end } = start();
  const asked = dialogue.ask("roots/list", "{}");
  expect(await dialogue.next()).toMatchObject([{ key: "q1" }]);
  end(done);
  expect(await asked).toMatchObject({ ok: false, symbol: "CANCELLED" });
  expect(await dialogue.next()).toEqual(done);
});
