/**
 * The recorder and its thread: one that is slow or gone costs lines, which are counted and said,
 * and neither memory nor calls.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { framesOf } from "../../../../src/observe/recording/read.ts";
import { Recorder } from "../../../../src/observe/recording/recorder.ts";
import type { Thread, ThreadData } from "../../../../src/observe/recording/recording.ts";
import { disposeAll, onDispose, until } from "../../../fixtures/peers.ts";

afterEach(disposeAll);

const PROGRAM = new URL("../../../../dist/observe/recording/recorder-thread.js", import.meta.url);

function setUp(startThread: (data: ThreadData) => Thread) {
  const dir = mkdtempSync(join(tmpdir(), "goblin-recorder-"));
  onDispose(() => rmSync(dir, { recursive: true, force: true }));
  const warnings: string[] = [];
  const counted = { recorded: 0, lost: 0 };
  const recorder = new Recorder({
    secrets: () => [],
    startThread,
    log: { warn: (_, message) => warnings.push(message), info: () => {} },
    meters: {
      countFrames: (recorded, lost) => {
        counted.recorded += recorded;
        counted.lost += lost;
      },
    },
    offers: () => '"servers":{}',
    version: "1",
    folder: () => dir,
  });
  const settings = { dir, servers: ["*"], maxBytes: 256 * 1024 * 1024, bodies: true };
  return { recorder, settings, warnings, counted, dir };
}

const real = (data: ThreadData): Worker => new Worker(PROGRAM, { workerData: data, execArgv: [] });

test("a thread that does not keep up costs lines, which are counted and said once", async () => {
  const sent: unknown[] = [];
  const busy: Thread = {
    postMessage: (message) => sent.push(message),
    on: () => {},
    ref: () => {},
    terminate: async () => {},
  };
  const { recorder, settings, warnings, counted } = setUp(() => busy);
  await recorder.start(settings);
  const tap = recorder.tap("one");
  const text = `"${"x".repeat(200_000)}"`;
  for (let i = 0; i < 200; i++) tap.sent(text, undefined);
  expect(warnings).toEqual(["The recording does not keep up, and frames are lost; calls go on"]);
  expect(counted.lost).toBeGreaterThan(100);
  expect(recorder.state!.lost).toBe(counted.lost);
  // 16 MB at most wait for it.
  expect(200 - counted.lost).toBeLessThanOrEqual(84);
  expect(sent.length).toBeGreaterThan(50);
});

test("a thread that fails is said, and what it had is counted", async () => {
  const { recorder, settings, warnings, counted } = setUp(
    (data) => new Worker("setTimeout(() => { throw new Error('it broke'); }, 200)", { eval: true, workerData: data }),
  );
  await recorder.start(settings);
  const tap = recorder.tap("one");
  tap.sent("{}", undefined);
  await until(() => warnings.length > 0);
  expect(warnings).toEqual(["The recorder's thread failed, and frames are lost; calls go on"]);
  tap.sent("{}", undefined);
  const ended = await recorder.stop();
  expect(ended).toMatchObject({ frames: 0, lost: 2 });
  expect(counted).toEqual({ recorded: 0, lost: 2 });
});

test("lines of all kinds and sizes arrive whole, in order, up to the largest message", async () => {
  const { recorder, settings, dir } = setUp(real);
  await recorder.start(settings);
  const tap = recorder.tap("sérver\n");
  const texts = [
    '{"a":1}',
    `{"wide":"${"語".repeat(80_000)}"}`,
    '{\n  "pretty": true\n}',
    `{"most":"${"y".repeat(256 * 1024 - 11)}"}`,
    `{"more":"${"z".repeat(256 * 1024)}"}`,
    "not json",
    '{"token":"abc"}',
    ...Array.from({ length: 5000 }, (_, n) => `{"n":${n}}`),
  ];
  for (const [index, text] of texts.entries()) {
    if (index % 2 === 0) tap.sent(text, undefined);
    else tap.received(Buffer.from(text), undefined);
  }
  const state = await recorder.stop();
  expect(state).toMatchObject({ frames: texts.length, lost: 0 });
  const frames = [...framesOf(dir)];
  expect(frames.every(({ server }) => server === "sérver\n")).toBe(true);
  const expected = texts.map((text) => (text.includes("more") ? undefined : text.replace("abc", "***")));
  expect(frames.map(({ message }) => message)).toEqual(expected);
  expect(frames[4]!.bytes).toBe(texts[4]!.length);
});

test("two recordings that begin in one second are both written", async () => {
  const { recorder, settings, dir } = setUp(real);
  for (const name of ["first", "second"]) {
    await recorder.start(settings);
    recorder.tap("one").sent(JSON.stringify(name), undefined);
    expect(await recorder.stop()).toMatchObject({ frames: 1, lost: 0 });
  }
  expect([...framesOf(dir)].map(({ message }) => message)).toEqual(['"first"', '"second"']);
});
