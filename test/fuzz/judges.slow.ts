/**
 * The fuzzers must be able to find fault: each judge passes what is right and condemns what is
 * wrong, and each fuzzer condemns a gateway that is wrong in one way, and says by which seed and
 * case. Against the gateway itself both find nothing in a moment.
 */
import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { disposeAll, onDispose } from "../fixtures/peers.ts";

// The fuzzers are programs and run without a build; what is taken from them here is checked where
// it is written.
const load = (file: string) => import(new URL(file, import.meta.url).href);
const judges = await load("./judges.js");
const { runFuzzer } = await load("./run.js");
const { fuzzFront } = await load("./front.js");
const { fuzzBackend } = await load("./backend.js");
const { frontCase } = await load("./front-cases.js");
const { hostileCase } = await load("./backend-cases.js");

afterEach(disposeAll);

const seen = (...messages: string[]) => ({ status: 200, text: messages.join("\n"), messages });
const answer = (id: unknown, result: unknown = {}) => JSON.stringify({ jsonrpc: "2.0", id, result });
const error = (id: unknown, data: object) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, data } });
const closed = { text: "", messages: [] };

const right: [judge: string, given: unknown[]][] = [
  ["answered", [seen()]],
  ["answered", [closed, { mayClose: true }]],
  ["noServerError", [{ ...seen(), status: 404 }]],
  ["validJson", [seen(answer(1), "[]")]],
  ["noInternalError", [seen(error(1, { code: "BACKEND_ERROR" }))]],
  ["ownAnswers", [seen(answer(1), answer("b")), ["b", 1]]],
  ["ownAnswers", [seen(`[${answer(1)},${answer(2)}]`), [1, 2]]],
  ["ownAnswers", [seen(answer(1), error(null, {}), '{"jsonrpc":"2.0","id":9,"method":"ping"}'), [1]]],
  ["lossless", [seen('{"result":{"a":1.0}}'), '{"a":1.0}']],
  ["ownResult", [seen(answer(1, "mark-7-")), "mark-7-", "evil"]],
  ["ownResult", [seen(error(1, { serverId: "evil" })), "mark-7-", "evil"]],
  ["served", [seen(answer(1, { a: "mine" })), '"mine"']],
  ["withinBounds", [{ rssMb: 120, descriptors: 60 }, { descriptors: 40 }]],
  ["withinBounds", [undefined, undefined]],
  ["alive", [undefined]],
];

const wrong: [judge: string, given: unknown[]][] = [
  ["answered", [closed]],
  ["answered", [{ ...closed, timedOut: true }, { mayClose: true }]],
  ["noServerError", [{ ...seen(), status: 500 }]],
  ["noServerError", [{ ...seen(), status: 503 }]],
  ["validJson", [seen(answer(1), '{"a":tru}')]],
  ["validJson", [seen('{"result":"\u0001"}')]],
  ["noInternalError", [seen(error(1, { code: "INTERNAL_ERROR" }))]],
  ["ownAnswers", [seen(answer(2)), [1]]],
  ["ownAnswers", [seen(answer("1")), [1]]],
  ["ownAnswers", [seen(answer(1), answer(1)), [1]]],
  ["ownAnswers", [seen(`[${answer(1)},${answer(1)}]`), [1, 2]]],
  ["ownAnswers", [seen(answer(1)), [1, 2]]],
  ["ownAnswers", [seen(answer(1)), []]],
  ["lossless", [seen('{"result":{"a":1}}'), '{"a":1.0}']],
  ["ownResult", [seen(answer(1, "mark-8-")), "mark-7-", "evil"]],
  ["ownResult", [seen(error(1, { serverId: "bank" })), "mark-7-", "evil"]],
  ["served", [seen(answer(1, { a: "theirs" })), '"mine"']],
  ["served", [seen(error(1, { mine: "mine" })), '"mine"']],
  ["served", [{ ...closed, timedOut: true }, '"mine"']],
  ["withinBounds", [{ rssMb: 900, descriptors: 40 }, { descriptors: 40 }]],
  ["withinBounds", [{ rssMb: 100, descriptors: 400 }, { descriptors: 40 }]],
  ["alive", ["ended with SIGABRT"]],
];

test.each(right)("%s passes what is right: %j", (judge, given) => {
  expect(judges[judge](...given)).toBeUndefined();
});

test.each(wrong)("%s condemns what is wrong: %j", (judge, given) => {
  expect(judges[judge](...given)).toEqual(expect.any(String));
});

test("every judge was seen to find fault", () => {
  const all = Object.keys(judges).filter((name) => typeof judges[name] === "function");
  expect(new Set(wrong.map(([judge]) => judge))).toEqual(new Set(all));
});

test("the same seed gives the same cases, another one others", () => {
  const sessions = { newest: {}, batches: {} };
  const cases = (seed: number) =>
    Array.from({ length: 50 }, (_, index) => [
      frontCase({ seed, index, sessions }),
      hostileCase({ seed, index, transport: index % 2 ? "http" : "stdio", mark: "m" }),
    ]);
  expect(cases(7)).toEqual(cases(7));
  expect(cases(7)).not.toEqual(cases(8));
});

describe("a gateway that is wrong in one way", () => {
  type Reply = (request: Record<string, unknown>, res: ServerResponse) => boolean;

  /** Answers everything as an honest gateway would, but for what `reply` takes. */
  async function start(reply: Reply) {
    const server = createServer((req, res) => void handle(req, res, reply).catch(() => res.destroy()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onDispose(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    return { url, ended: () => undefined, usage: () => undefined, stop: async () => {} };
  }

  async function handle(req: IncomingMessage, res: ServerResponse, reply: Reply): Promise<void> {
    if (req.method === "GET") {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(`event: endpoint\ndata: /messages/${streams.push(res) - 1}\n\n`);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const value = parsed(body);
    if (value === undefined) return void json(res, 400, error(null, {}));
    const requests = (Array.isArray(value) ? value : [value]) as Record<string, unknown>[];
    const answers = requests.flatMap((request) => answerTo(request ?? {}, body));
    const stream = streams[Number(/^\/messages\/(\d+)$/.exec(req.url ?? "")?.[1] ?? -1)];
    if (stream) {
      for (const text of answers) stream.write(`event: message\ndata: ${text}\n\n`);
      return void res.writeHead(202).end();
    }
    if (requests[0]?.["method"] !== "initialize" && reply(requests[0] ?? {}, res)) return;
    if (answers.length === 0) return void res.writeHead(202).end();
    res.setHeader("mcp-session-id", "s");
    json(res, 200, Array.isArray(value) ? `[${answers.join(",")}]` : answers.join(""));
  }

  const streams: ServerResponse[] = [];

  function answerTo({ id, method, params }: Record<string, unknown>, body: string): string[] {
    if (id === undefined || method === undefined) return [];
    const args = /\{"fuzz":"(\d+)".*"end":"\1"\}/s.exec(body)?.[0] ?? "{}";
    const said = (params as { arguments?: { say?: string } } | undefined)?.arguments?.say ?? "";
    const mark = /mark-\d+-/.exec(Buffer.from(said, "base64").toString())?.[0];
    return [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"args":${args},"mark":"${mark}"}}`];
  }

  function parsed(body: string): unknown {
    try {
      return JSON.parse(body === "" ? "{}" : body);
    } catch {
      return undefined;
    }
  }

  const json = (res: ServerResponse, status: number, text: string): boolean => {
    res.writeHead(status, { "content-type": "application/json" }).end(text);
    return true;
  };
  const isCall = ({ method }: Record<string, unknown>) => method === "tools/call";

  const faults: Record<string, [Reply, RegExp]> = {
    "another id": [(r, res) => isCall(r) && json(res, 200, answer(999_999)), /which is not wanted|no answer to/],
    "no JSON": [(r, res) => isCall(r) && json(res, 200, '{"jsonrpc":"2.0",'), /not JSON/],
    "a server error": [(r, res) => isCall(r) && json(res, 500, error(r["id"], {})), /status 500/],
    "an internal error": [
      (r, res) => isCall(r) && json(res, 200, error(r["id"], { code: "INTERNAL_ERROR" })),
      /internal error/,
    ],
    "no answer": [(r, res) => isCall(r) && !!res.destroy(), /no answer|not served/],
    "nobody served": [(r, res) => isCall(r) && json(res, 200, error(r["id"], {})), /not served/],
  };

  test.each(Object.entries(faults))("%s is found by either fuzzer", async (_, [reply, wanted]) => {
    for (const fuzz of [fuzzFront, fuzzBackend]) {
      const target = await start(reply);
      const { failures } = await runFuzzer({ seed: 7, seconds: 1, target, fuzz });
      expect(failures.map(({ verdict }: { verdict: string }) => verdict).join("\n")).toMatch(wanted);
      expect(failures.some(({ index }: { index: number }) => index >= 0)).toBe(true);
    }
  });

  test("changed arguments are found by the front fuzzer", async () => {
    const target = await start(
      (r, res) =>
        isCall(r) && json(res, 200, answer(r["id"], { args: (r["params"] as { arguments: unknown }).arguments })),
    );
    const { failures } = await runFuzzer({ seed: 7, seconds: 1, target, fuzz: fuzzFront });
    expect(failures.map(({ verdict }: { verdict: string }) => verdict).join("\n")).toMatch(/came back/);
  });
});

test("the command finds nothing wrong with the gateway in a moment, and says so in a line for each fuzzer", async () => {
  const program = fileURLToPath(new URL("./run.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--seconds", "6", "--seed", "7"]);
  expect(stdout).toMatch(/^fuzz front: seed 7, \d+ cases in 3 s, at most \d+ MB: nothing wrong$/m);
  expect(stdout).toMatch(/^fuzz backend: seed 7, \d+ cases in 3 s, at most \d+ MB: nothing wrong$/m);
  await expect(promisify(execFile)(process.execPath, [program, "--only", "nothing"])).rejects.toMatchObject({
    code: 1,
  });
});
