import { expect, it } from "vitest";
import { numberIn, socketAddress } from "../../../../src/app/workers/socket-folder.ts";

const folder = "/tmp/goblin-workers-17-aBcDeF";

it("names a socket for each worker, on Windows a pipe", () => {
  expect(socketAddress({ folder, number: 2, pid: 99, platform: "linux" })).toBe(`unix:${folder}/2-99`);
  expect(socketAddress({ folder, number: 2, pid: 99, platform: "win32" })).toBe(
    "unix:\\\\.\\pipe\\goblin-workers-17-aBcDeF-2-99",
  );
});

it("finds the number of the worker in its address", () => {
  for (const platform of ["linux", "win32"] as const)
    expect(numberIn(socketAddress({ folder, number: 12, pid: 4711, platform }))).toBe(12);
  expect(numberIn("10.0.0.5:3001")).toBeUndefined();
});
