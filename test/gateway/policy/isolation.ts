/**
 * Isolation as a law: whatever the rules and profiles are, each way to ask agrees with a simple
 * evaluator about what exists. The tests beside it run this a few times or many times.
 */
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
