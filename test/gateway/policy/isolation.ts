/**
 * Isolation as a law: whatever the rules and profiles are, each way to ask agrees with a simple
 * evaluator about what exists, and nothing of one principal reaches another. The tests beside it
 * run this a few times or many times.
 */
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { type RawHttp, rawHttp, startScripted } from "../../fixtures/peers.ts";

const people = ["ada", "bob", "eve"] as const;
type Person = (typeof people)[number];
const tokenOf = (name: Person): string => `the-long-token-of-${name}`;
const clients = Object.fromEntries(people.map((name) => [name, { token: tokenOf(name) }]));

function connect(url: string, name: Person): RawHttp {
  const http = rawHttp(url);
  http.headers["authorization"] = `Bearer ${tokenOf(name)}`;
  return http;
}

// --- Every way to ask agrees about what exists.

const servers = ["web", "db"] as const;
const tools = ["echo", "add", "raw", "tool_1", "nothing"];
const prompts = ["greet", "rich", "nothing"];
const uris = ["text:///hello", "blob:///pixel", "item://a/1", "item://b/1", "none:///x"];
const templates = ["item://{kind}/{id}", "query://search{?q,limit}"];

interface Patterns {
  readonly allow?: string[];
  readonly deny?: string[];
}
interface Profile {
  readonly servers?: string[];
  readonly tools?: Patterns;
}
interface Rule {
  readonly effect: "allow" | "deny";
  readonly server?: string;
  readonly tools?: string[];
  readonly prompts?: string[];
  readonly resources?: string[];
  readonly who?: { principals: string[] };
  readonly when?: string;
}
interface World {
  readonly policy: { default: "allow" | "deny"; rules: Rule[] };
  readonly profiles: { one: Profile };
}

const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const rule: fc.Arbitrary<Rule> = fc.record(
  {
    effect: fc.constantFrom("allow" as const, "deny" as const),
    server: fc.constantFrom("web", "db", "*b"),
    tools: some("echo", "a*", "*", "tool_?", "@readOnly", "@destructive"),
    prompts: some("greet", "*"),
    resources: some("text:*", "item://a/*", "item:*", "*"),
    who: fc.record({ principals: some(...people) }),
    when: fc.constantFrom("args.text == 'x'", "true"),
  },
  { requiredKeys: ["effect"] },
);
const world: fc.Arbitrary<World> = fc.record({
  policy: fc.record({
    default: fc.constantFrom("allow" as const, "deny" as const),
    rules: fc.array(rule, { maxLength: 5 }),
  }),
  profiles: fc.record({
    one: fc.record(
      { servers: some(...servers), tools: fc.record({ deny: some("add", "e*", "@destructive") }) },
      { requiredKeys: [] },
    ),
  }),
});

interface Thing {
  readonly kind: "tools" | "prompts" | "resources";
  readonly server: string;
  readonly name: string;
}

const glob = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\/]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
  );
/** The fixture's own tools are read-only; the numbered ones say nothing. */
const isNamed = (pattern: string, name: string): boolean =>
  pattern.startsWith("@") ? (pattern === "@destructive") === /^tool_/.test(name) : glob(pattern).test(name);

function matching({ policy }: World, person: Person, { kind, server, name }: Thing): Rule[] {
  return policy.rules.filter((each) => {
    if (each.who && !each.who.principals.includes(person)) return false;
    if (each.server !== undefined && !glob(each.server).test(server)) return false;
    if (!each.tools && !each.prompts && !each.resources) return true;
    return each[kind]?.some((pattern) => isNamed(pattern, name)) ?? false;
  });
}

function isVisible(given: World, person: Person, thing: Thing, isProfile: boolean): boolean {
  const { one } = given.profiles;
  if (isProfile && one.servers && !one.servers.includes(thing.server)) return false;
  if (isProfile && thing.kind === "tools" && one.tools?.deny?.some((each) => isNamed(each, thing.name))) return false;
  const rules = matching(given, person, thing);
  if (rules.some(({ effect, when }) => effect === "deny" && when === undefined)) return false;
  return given.policy.default === "allow" || rules.some(({ effect }) => effect === "allow");
}

/** Whether a visible tool may be called with this argument. */
function isPermitted(given: World, person: Person, thing: Thing, text: string | undefined): boolean {
  const rules = matching(given, person, thing);
  const holds = ({ when }: Rule): boolean | undefined =>
    when === undefined || when === "true" ? true : text === undefined ? undefined : text === "x";
  if (rules.some((each) => each.effect === "deny" && holds(each) !== false)) return false;
  return given.policy.default === "allow" || rules.some((each) => each.effect === "allow" && holds(each) === true);
}

const NOT_FOUND = [-32602, -32002];
const DENIED = -32013;

export async function agreement(numRuns: number): Promise<void> {
  const [web, db] = await Promise.all(
    servers.map((name) => startScripted({ name, tools: 1, era: name === "db" ? "modern" : "legacy" })),
  );
  const base = {
    mcpServers: { web: web!.entry, db: db!.entry },
    gateway: { port: 0, auth: { clients } },
    resources: { uris: "prefixed" },
    metaTools: { enabled: ["call_tool", "describe_tool", "search_tools"] },
  };
  const { gateway, url } = await startGoblin({ ...base, profiles: { one: {} } });
  const sessions = await Promise.all(
    people.flatMap((person) =>
      [false, true].map(async (isProfile) => {
        const http = connect(isProfile ? `${url}/p/one` : url, person);
        await http.initialize();
        return { person, isProfile, http };
      }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(world, fc.constantFrom(undefined, "x", "y"), async (given, text) => {
      const next = parseConfig(JSON.stringify({ ...base, ...given }), { file: "test.json", env: process.env });
      await gateway.reload(next.config).done;
      await Promise.all(sessions.map((session) => agrees(given, session, text)));
    }),
    { numRuns, endOnFailure: numRuns < 50 },
  );
}

interface Asker {
  readonly person: Person;
  readonly isProfile: boolean;
  readonly http: RawHttp;
}

async function agrees(given: World, { person, isProfile, http }: Asker, text: string | undefined): Promise<void> {
  const sees = (thing: Thing): boolean => isVisible(given, person, thing, isProfile);
  const all = async (method: string, member: string): Promise<string[]> => {
    const { message } = await http.call(method);
    return (message.result[member] as Record<string, string>[]).map(
      ({ name, uri, uriTemplate }) => uriTemplate ?? uri ?? name!,
    );
  };
  const [toolList, promptList, resourceList, templateList] = await Promise.all([
    all("tools/list", "tools"),
    all("prompts/list", "prompts"),
    all("resources/list", "resources"),
    all("resources/templates/list", "resourceTemplates"),
  ]);
  const use = (name: string, args: object) => http.call("tools/call", { name, arguments: args });
  const found = JSON.stringify((await use("search_tools", { query: "", limit: 100 })).message.result);
  const wrong: string[] = [];
  const expectSame = (what: string, is: boolean, should: boolean): void => {
    if (is !== should) wrong.push(`${person}${isProfile ? " in the profile" : ""}: ${what} is ${is}`);
  };
  const refusal = async (method: string, params: object): Promise<number | undefined> =>
    (await http.call(method, params)).message.error?.code;
  const exists = (code: number | undefined): boolean => !NOT_FOUND.includes(code ?? 0);
  for (const server of servers) {
    for (const name of tools) {
      const thing: Thing = { kind: "tools", server, name };
      const should = name !== "nothing" && sees(thing);
      const shown = `${server}_${name}`;
      expectSame(`${shown} listed`, toolList.includes(shown), should);
      expectSame(`${shown} found`, found.includes(`"${shown}"`), should);
      expectSame(
        `${shown} described`,
        exists((await use("describe_tool", { name: shown })).message.error?.code),
        should,
      );
      const args = { a: 1, b: 2, result: {}, ...(text !== undefined && { text }) };
      for (const params of [
        { name: shown, arguments: args },
        { name: "call_tool", arguments: { name: shown, arguments: args } },
      ]) {
        const code = await refusal("tools/call", params);
        expectSame(`${params.name} of ${shown} reached`, exists(code), should);
        if (should) expectSame(`${shown} called`, code !== DENIED, isPermitted(given, person, thing, text));
      }
    }
    for (const name of prompts) {
      const should = name !== "nothing" && sees({ kind: "prompts", server, name });
      const shown = `${server}_${name}`;
      const ref = { type: "ref/prompt", name: shown };
      expectSame(`${shown} listed`, promptList.includes(shown), should);
      expectSame(
        `${shown} got`,
        exists(await refusal("prompts/get", { name: shown, arguments: { name: "n" } })),
        should,
      );
      const completing = await refusal("completion/complete", { ref, argument: { name: "name", value: "" } });
      expectSame(`${shown} completed`, exists(completing), should);
    }
    for (const name of uris) {
      // A template makes a URI readable only if it is visible itself.
      const isItem = name.startsWith("item:");
      const template: Thing = { kind: "resources", server, name: templates[0]! };
      const should = name !== "none:///x" && sees({ kind: "resources", server, name }) && (!isItem || sees(template));
      const uri = `${server}+${name}`;
      if (!isItem) expectSame(`${uri} listed`, resourceList.includes(uri), should);
      for (const method of ["resources/read", "resources/subscribe"])
        expectSame(`${uri} by ${method}`, exists(await refusal(method, { uri })), should);
      await http.call("resources/unsubscribe", { uri });
    }
    for (const name of templates) {
      const should = sees({ kind: "resources", server, name });
      expectSame(`${name} of ${server} listed`, templateList.includes(`${server}+${name}`), should);
    }
  }
  expect(wrong).toEqual([]);
}

// --- Nothing of one principal reaches another.

const steps = ["call", "task", "subscribe", "read", "prompt", "complete", "list"] as const;
type Step = (typeof steps)[number];

export async function silence(numRuns: number): Promise<void> {
  const program = fileURLToPath(new URL("../../fixtures/tagging-server.js", import.meta.url));
  const entry = { command: process.execPath, args: [program] };
  const { url } = await startGoblin({
    mcpServers: { one: entry, two: { ...entry, share: "session" } },
    gateway: { auth: { clients } },
    policy: { rules: [{ effect: "deny", server: "two", who: { principals: ["eve"] }, when: "args.tag == ''" }] },
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...steps), { maxLength: 5 }), { minLength: 3, maxLength: 3 }),
      async (plans) => {
        const talks = await Promise.all(people.map((name) => beginTalk(url, name)));
        await Promise.all(talks.map((talk, i) => talk.run(plans[i]!)));
        // The ids that each knows are worth nothing to the others.
        for (const [i, talk] of talks.entries()) await talk.steal(talks[(i + 1) % 3]!.tasks);
        for (const talk of talks) await talk.end();
        for (const talk of talks) {
          const others = talks.filter((other) => other !== talk);
          for (const { tag } of others) expect([talk.name, talk.heard().includes(tag)]).toEqual([talk.name, false]);
        }
      },
    ),
    { numRuns, endOnFailure: true },
  );
}

let talkCount = 0;

/** One client of one principal, which keeps every byte that it gets. */
async function beginTalk(url: string, name: Person) {
  const tag = `tag-${name}-${++talkCount}-`;
  const http = connect(url, name);
  await http.initialize("2025-11-25", { elicitation: {}, tasks: { requests: {} } });
  await http.call("logging/setLevel", { level: "debug" });
  const standing = await http.stream({});
  const texts: string[] = [];
  const tasks: string[] = [];
  let id = 1000;

  const ask = async (method: string, params: object): Promise<void> => {
    const body = { jsonrpc: "2.0", id: ++id, method, params };
    const stream = await http.stream({ body });
    const mine = body.id;
    const isOver = (message: { id?: unknown; method?: string }) => message.method === undefined && message.id === mine;
    for (let seen = 0; ; ) {
      const next = await stream.next((message) => stream.messages.indexOf(message) >= seen);
      seen = stream.messages.indexOf(next) + 1;
      texts.push(JSON.stringify(next));
      if (isOver(next)) {
        if (next.result?.task) tasks.push(next.result.task.taskId);
        break;
      }
      if (next.method === "elicitation/create")
        await http.post({ jsonrpc: "2.0", id: next.id, result: { action: "accept", content: { by: tag } } });
    }
    await stream.close();
  };

  const take = (step: Step, server: string): Promise<void> => {
    const args = { name: `${server}_say`, arguments: { tag }, _meta: { progressToken: 1 } };
    const uri = `${server}+mem:///${tag}`;
    switch (step) {
      case "call":
        return ask("tools/call", args);
      case "task":
        return ask("tools/call", { ...args, task: { ttl: 60_000 } });
      case "subscribe":
        return ask("resources/subscribe", { uri });
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
  const known = { name, tag, tasks };
  return {
    ...known,
    heard: (): string => [...texts, JSON.stringify(standing.messages)].join("\n"),
    async run(plan: readonly Step[]) {
      for (const [i, step] of plan.entries()) await take(step, i % 2 === 0 ? "one" : "two");
    },
    async steal(ids: readonly string[]): Promise<void> {
      for (const taskId of ids) {
        // The id itself is known; only what it leads to counts.
        for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
          const { message } = await http.call(method, { taskId });
          expect(message.error?.code).toBeDefined();
          texts.push(JSON.stringify(message).replaceAll(taskId, ""));
        }
      }
    },
    async end(): Promise<void> {
      await http.call("ping");
      await standing.close();
      await http.delete();
    },
  };
}
