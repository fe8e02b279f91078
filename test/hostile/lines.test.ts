/** A large line on stdin that is full of small values: it is parsed over many turns, in order. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, until } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";

afterEach(disposeAll);

const LINE = 3_000_000;
/** A turn parses two runs of 32 KB. */
const MIN_TURNS = Math.floor(LINE / (2 * 32 * 1024));

const ping = (id: number, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"values":${params}}}\n`;

async function open() {
  const goblin = await startGoblin({ mcpServers: {} });
  const { input, messages, front } = stdioClient(goblin.gateway);
  return { input, front, ids: (): (number | null)[] => messages().map(({ id }) => id) };
}

const values = `[${"1,".repeat(LINE / 2)}1]`;

test("other events get their turn meanwhile, and messages keep their order", async () => {
  const { input, ids } = await open();
  let turns = 0;
  const turn = (): void => {
    turns++;
    if (ids().length === 0) setImmediate(turn);
  };
  input.write(`${ping(1, values)}${ping(2, "[]")}${ping(3, values)}`);
  input.write(ping(4, "[]"));
  turn();
  await until(() => ids().length === 4, { what: "all answers" });
  expect(ids()).toEqual([1, 2, 3, 4]);
  expect(turns).toBeGreaterThan(MIN_TURNS);
});

test("a large line that is not JSON is answered in its place", async () => {
  const { input, ids } = await open();
  input.write(`${ping(1, `${values.slice(0, -1)}`)}${ping(2, "[]")}${ping(3, "[".repeat(LINE))}${ping(4, "[]")}`);
  await until(() => ids().length === 4, { what: "all answers" });
  expect(ids()).toEqual([null, 2, null, 4]);
});

test("the end of the input waits for a line that is being parsed, and its close does not", async () => {
  const ended = await open();
  ended.input.end(ping(1, values));
  await ended.front.closed;
  await until(() => ended.ids().length > 0, { what: "the answer" });
  const closed = await open();
  closed.input.write(ping(1, values));
  closed.front.close();
  await closed.front.closed;
  expect(closed.ids()).toEqual([]);
});
