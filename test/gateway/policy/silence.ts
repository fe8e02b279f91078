/**
 * Isolation as a law, its other half: nothing of one principal reaches another, whatever each does,
 * in whichever era, whatever rules hide from it, and though the rules change meanwhile. The tests
 * beside it run this a few times or many times.
 */
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { connectSpeaker, type Version } from "../../matrix/speakers.ts";

const people = ["ada", "bob", "eve"] as const;
type Person = (typeof people)[number];
const tokenOf = (name: Person): string => `the-long-token-of-${name}`;
const clients = Object.fromEntries(people.map((name) => [name, { token: tokenOf(name) }]));

const steps = ["call", "task", "subscribe", "read", "prompt", "complete", "list"] as const;
type Step = (typeof steps)[number];

interface Plan {
  readonly version: Version;
  readonly steps: readonly Step[];
}

/** What rules hide, besides those that depend on arguments. */
const hidings = [
  { server: "one" },
  { server: "two" },
  { tools: ["say"] },
  { tools: ["two/say"] },
  { prompts: ["compose"] },
  { resources: ["mem:*"] },
  { server: "two", when: "args.tag == ''" },
] as const;

const rules = fc.array(
  fc.record({ what: fc.constantFrom(...hidings), principals: fc.subarray([...people], { minLength: 1 }) }),
  { maxLength: 4 },
);
const plan: fc.Arbitrary<Plan> = fc.record({
  version: fc.constantFrom("2025-11-25" as const, "2026-07-28" as const),
  steps: fc.array(fc.constantFrom(...steps), { minLength: 1, maxLength: 5 }),
});

export async function silence(numRuns: number): Promise<void> {
  const program = fileURLToPath(new URL("../../fixtures/tagging-server.js", import.meta.url));
  const entry = { command: process.execPath, args: [program] };
  const base = {
    mcpServers: { one: entry, two: { ...entry, share: "session" } },
    gateway: { port: 0, auth: { clients } },
  };
  const goblin = await startGoblin(base);
  const apply = (given: readonly { what: object; principals: readonly string[] }[]): Promise<unknown> => {
    const policy = {
      rules: given.map(({ what, principals }) => ({ effect: "deny", ...what, who: { principals } })),
    };
    const { config } = parseConfig(JSON.stringify({ ...base, policy }), { file: "test.json", env: process.env });
    return goblin.gateway.reload(config).done;
  };
  await fc.assert(
    fc.asyncProperty(rules, rules, fc.tuple(plan, plan, plan), async (before, after, plans) => {
      await apply(before);
      const talks = await Promise.all(people.map((name, i) => beginTalk(goblin, name, plans[i]!)));
      await Promise.all([...talks.map((talk) => talk.run()), apply(after)]);
      // The ids that each knows are worth nothing to the others.
      for (const [i, talk] of talks.entries()) await talk.steal(talks[(i + 1) % 3]!.tasks());
      for (const talk of talks) {
        const others = talks.filter((other) => other !== talk);
        for (const { tag } of others) expect([talk.name, talk.heard().includes(tag)]).toEqual([talk.name, false]);
      }
      for (const talk of talks) talk.end();
    }),
    { numRuns, endOnFailure: true },
  );
}

let talkCount = 0;

/** One client of one principal, which keeps everything that it gets. */
async function beginTalk(goblin: RunningGoblin, name: Person, { version, steps: wanted }: Plan) {
  const tag = `tag-${name}-${++talkCount}-`;
  const speaker = await connectSpeaker({ goblin, version, way: "http", name: tag, token: tokenOf(name) });
  await speaker.wantLogs("debug");
  const answers: string[] = [];

  const ask = async (method: string, params: Record<string, unknown>): Promise<void> => {
    answers.push(JSON.stringify(await speaker.request(method, params, { token: 1 })));
  };
  const take = async (step: Step, server: string): Promise<void> => {
    const args = { name: `${server}_say`, arguments: { tag } };
    const uri = `${server}+mem:///${tag}`;
    switch (step) {
      case "call":
        return ask("tools/call", args);
      case "task":
        return ask("tools/call", { ...args, task: { ttl: 60_000 } });
      case "subscribe":
        // What is hidden cannot be watched.
        return void (await speaker.watch(uri).catch((error: unknown) => answers.push(String(error))));
      case "read":
        return ask("resources/read", { uri });
      case "prompt":
        return ask("prompts/get", { name: `${server}_compose`, arguments: { tag } });
      case "complete":
        return ask("completion/complete", {
          ref: { type: "ref/prompt", name: `${server}_compose` },
          argument: { name: "tag", value: tag },
        });
      case "list":
        return ask("tasks/list", {});
    }
  };

  return {
    name,
    tag,
    heard: (): string => [...answers, JSON.stringify([speaker.heard, speaker.questions])].join("\n"),
    tasks: (): string[] => answers.flatMap((text) => [...text.matchAll(/"taskId":"([^"]+)"/g)].map(([, id]) => id!)),
    async run(): Promise<void> {
      for (const [i, step] of wanted.entries()) await take(step, i % 2 === 0 ? "one" : "two");
    },
    async steal(ids: readonly string[]): Promise<void> {
      for (const taskId of ids) {
        for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
          const message = await speaker.request(method, { taskId });
          expect(message.error?.code).toBeDefined();
          // The id itself is known; only what it leads to counts.
          answers.push(JSON.stringify(message).replaceAll(taskId, ""));
        }
      }
    },
    end: (): void => speaker.close(),
  };
}
