/** Which connections are late or idle: real sockets, and a server that does not listen. */
import { createServer as createHttp, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { type ArrivalLimits, OpenConnections } from "../../../src/front/http/node/open-connections.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);
setFlagsFromString("--expose-gc");

const REQUEST = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function setUp(limits: Partial<ArrivalLimits> = {}) {
  const late: number[] = [];
  const answers: ServerResponse[] = [];
  const served: Socket[] = [];
  const all = { headersMs: 300, requestMs: 300, idleMs: 60_000, checkMs: 20, ...limits };
  const connections = new OpenConnections(all, (socket) => {
    late.push(served.indexOf(socket));
    socket.destroy();
  });
  const http = createHttp((request, response) => {
    connections.began(request, response);
    request.resume();
    answers.push(response);
  });
  http.on("connect", ({ socket }) => connections.release(socket));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    served.push(socket);
    connections.add(socket);
    http.emit("connection", socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    connections.close();
    for (const socket of served) socket.destroy();
    server.close();
  });
  const open = async (text = ""): Promise<Socket> => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    const before = served.length;
    await until(() => served.length > before);
    if (text !== "") socket.write(text);
    return socket;
  };
  return { connections, open, late, answers, served };
}

test("a connection without a request is late, and so is one that stops in its first head", async () => {
  const { open, late } = await setUp();
  await open();
  await open("POST / HTTP/1.1\r\nhost: ");
  await until(() => late.length === 2);
  expect(late.toSorted()).toEqual([0, 1]);
});

test("a request whose body does not come is late, also on a connection that had others", async () => {
  const { open, late, answers } = await setUp();
  const socket = await open(REQUEST);
  await until(() => answers.length === 1);
  answers[0]!.end("ok");
  await pause(50);
  socket.write(REQUEST.slice(0, -1));
  await until(() => late.length === 1);
});

test("a head that comes in tiny parts after another request is late", async () => {
  const { open, late, answers } = await setUp();
  const socket = await open(REQUEST);
  await until(() => answers.length === 1);
  answers[0]!.end("ok");
  await pause(60);
  socket.write("POST / HTTP/1.1\r\nx-long: ");
  const drip = setInterval(() => socket.write("X"), 10);
  onDispose(() => clearInterval(drip));
  await until(() => late.length === 1);
});

test("a slow answer, an idle connection and a request after a long pause are not late", async () => {
  const { open, late, answers } = await setUp({ headersMs: 250, requestMs: 250 });
  const socket = await open(REQUEST);
  await until(() => answers.length === 1);
  await pause(400);
  answers[0]!.end("ok");
  await pause(400);
  socket.write(REQUEST.slice(0, 20));
  await pause(60);
  socket.write(REQUEST.slice(20));
  await until(() => answers.length === 2);
  await pause(400);
  answers[1]!.end("ok");
  expect(late).toEqual([]);
});

test("an answer under way is not cut for what follows its request; afterwards, that is late", async () => {
  const { open, late, answers, served } = await setUp({ headersMs: 60 });
  const empty = await open(REQUEST);
  const part = await open(REQUEST);
  await until(() => answers.length === 2);
  await pause(60);
  empty.write("\r\n");
  part.write("POST / HT");
  await pause(250);
  expect(late).toEqual([]);
  for (const answer of answers) answer.end("ok");
  await until(() => late.includes(1));
  expect(served[1]!.bytesWritten).toBeGreaterThan(0);
});

test("an idle connection does not keep its last request and answer", async () => {
  const { open, answers } = await setUp();
  await open(REQUEST);
  await until(() => answers.length === 1);
  answers[0]!.end("ok");
  const answer = new WeakRef(answers.pop()!);
  const collect = runInNewContext("gc") as () => void;
  await until(() => {
    collect();
    return answer.deref() === undefined;
  });
});

test("a connection that is idle for long is closed: none with an answer or a request under way", async () => {
  const { open, answers, late, served } = await setUp({ headersMs: 60_000, requestMs: 60_000, idleMs: 150 });
  await open(REQUEST);
  await open(REQUEST);
  await open(REQUEST.slice(0, -1));
  await open();
  const busy = await open(REQUEST);
  await until(() => answers.length === 4);
  answers[0]!.end("ok");
  answers[3]!.end("ok");
  const again = setInterval(() => busy.write(REQUEST), 40);
  onDispose(() => clearInterval(again));
  const answering = setInterval(() => answers.slice(4).forEach((answer) => void answer.end("ok")), 5);
  onDispose(() => clearInterval(answering));
  await until(() => served[0]!.destroyed);
  await pause(300);
  expect(served.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false, false]);
  expect(late).toEqual([]);
});

const unread = {
  "an answer that has ended": (answer: ServerResponse, size: number): void => {
    answer.writeHead(200, { "content-length": size });
    // As small answers are written: past Node's count of what the answer still has to send.
    answer.socket!.write(Buffer.alloc(size));
    answer.end();
    OpenConnections.over(answer.socket!, answer);
  },
  "an answer that Node writes": (answer: ServerResponse, size: number): void => void answer.end(Buffer.alloc(size)),
};

test.each(Object.entries(unread))("a connection is not idle while its client reads %s", async (_, write) => {
  const { open, answers, served } = await setUp({ idleMs: 400 });
  const socket = await open(REQUEST);
  await until(() => answers.length === 1);
  const size = 24 * 1024 * 1024;
  write(answers[0]!, size);
  let read = 0;
  // For five times as long as a connection may be idle.
  let pauses = 0;
  for await (const bytes of socket) {
    read += (bytes as Buffer).length;
    if (read > (pauses + 1) * 400_000 && pauses < 50) {
      pauses++;
      await pause(40);
    }
    if (read >= size) break;
  }
  expect([read >= size, pauses, served[0]!.destroyed]).toEqual([true, 50, false]);
});

test.each(Object.entries(unread))("a client that does not read %s loses its connection", async (_, write) => {
  const { open, answers, served, late } = await setUp({ idleMs: 200 });
  const socket = await open(REQUEST);
  socket.pause();
  await until(() => answers.length === 1);
  write(answers[0]!, 24 * 1024 * 1024);
  await until(() => served[0]!.destroyed);
  expect(late).toEqual([]);
});

test("the end waits for answers that wait for the one before them", async () => {
  const { connections, open, answers, served } = await setUp();
  const socket = await open(REQUEST + REQUEST);
  let got = "";
  socket.on("data", (bytes) => {
    got += bytes;
  });
  await until(() => answers.length === 2);
  answers[1]!.end("second");
  await pause(50);
  connections.closeIdle();
  expect(served[0]!.destroyed).toBe(false);
  answers[0]!.end("first");
  await until(() => got.endsWith("second"));
  connections.closeIdle();
  await until(() => served[0]!.destroyed);
});

test("a tunnel is nobody's request", async () => {
  const { connections, open, late, served } = await setUp({ headersMs: 60 });
  await open("CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await pause(200);
  connections.closeIdle();
  connections.closeIdle();
  expect(late).toEqual([]);
  expect(served[0]!.destroyed).toBe(false);
});

test("the end closes what is open: answers under way, tunnels, and sockets that others watch", async () => {
  const { connections, open, answers, served } = await setUp();
  await open(REQUEST);
  await open("CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
  const other = await open();
  const gone = await open();
  connections.addUnwatched(other);
  connections.addUnwatched(gone);
  gone.destroy();
  await until(() => answers.length === 1 && gone.closed);
  await pause(50);
  connections.close();
  expect([served[0]!.destroyed, served[1]!.destroyed, other.destroyed]).toEqual([true, true, true]);
});

test("only idle connections are closed: none with an answer or a request under way", async () => {
  const { connections, open, answers, served } = await setUp();
  await open(REQUEST);
  await open(REQUEST);
  const third = await open(REQUEST);
  await open();
  const again = await open();
  await until(() => answers.length === 3);
  answers[0]!.end("ok");
  answers[2]!.end("ok");
  await until(() => answers[0]!.writableFinished && answers[2]!.writableFinished);
  // A look must have seen that the third is answered, to know of the part of the next one.
  await pause(60);
  third.write(REQUEST.slice(0, 30));
  const { bytesRead } = served[2]!;
  await until(() => served[2]!.bytesRead > bytesRead);
  // Whether the last one was answered long ago, or in this turn.
  again.write(REQUEST);
  await until(() => answers.length === 4);
  answers[3]!.end("ok");
  await pause(60);
  again.write(REQUEST);
  await until(() => answers.length === 5);
  answers[4]!.end("ok");
  connections.closeIdle();
  expect(served.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false, true]);
});
