/** What the soak makes of calls that are asked for input: each question may come once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

interface Problems {
  count(kind: string): number;
  lines(): string[];
}

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(resolve("bench/soak", file)).href)) as T;
const { createProblems } = await load<{ createProblems(known: string[]): Problems }>("problems.js");
const { createWeather } = await load<{ createWeather(): object }>("weather.js");
const { createLedger } = await load<{ createLedger(options: object): object }>("ledger.js");
const { call } = await load<{
  call(client: object, server: object, tool: string, args: object, street: object): Promise<boolean>;
}>("traffic.js");

const folder = mkdtempSync(join(tmpdir(), "soak-questions-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a call that is asked for input", () => {
  /** The call is asked these questions, one each round, and then has its result. */
  async function asked(questions: readonly string[]) {
    const problems = createProblems([]);
    const weather = createWeather();
    const ledger = createLedger({ problems, weather, folder, servers: ["s"] });
    const left = [...questions];
    const client = {
      id: "c1",
      kind: "stdio modern",
      gateway: "c1",
      question: () => ({ action: "accept" }),
      replyTo: () => undefined,
      async ask(_method: string, { arguments: { nonce } }: { arguments: { nonce: string } }) {
        const message = left.shift();
        const complete = { structuredContent: { nonce, server: "s" } };
        if (message === undefined) return { message: { result: complete } };
        const inputRequests = message === "" ? {} : { q: { method: "elicitation/create", params: { message } } };
        return { message: { result: { resultType: "input_required", inputRequests, requestState: "state" } } };
      },
    };
    const hasResult = await call(client, { name: "s" }, "work", {}, { ledger, weather, problems });
    return { hasResult, lost: problems.count("lostAnswers"), lines: problems.lines() };
  }

  test("may be asked many things", async () => {
    const questions = Array.from({ length: 20 }, (_, n) => `c1.${n + 2}`);
    expect(await asked(questions)).toMatchObject({ hasResult: true, lost: 0 });
  });

  test.each([
    ["the same again", ["c1.2", "c1.3", "c1.2"]],
    ["nothing", [""]],
  ])("is lost if it is asked %s", async (_what, questions) => {
    const { hasResult, lost, lines } = await asked(questions);
    expect([hasResult, lost]).toEqual([false, 1]);
    expect(lines[1]).toContain(`asked again, in round ${questions.length}`);
  });
});
