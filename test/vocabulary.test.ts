/**
 * The words of the code: identifiers in `src` use the vocabulary of the trade and of the glossary
 * in ARCHITECTURE.md. Private metaphors and second words for one thing, once replaced, stay out.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));
const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }));

/**
 * Words that a reader would have to learn, and second words for what has one. Each stands for a
 * name of the glossary in ARCHITECTURE.md or of the trade; identifiers in `src` may not use them.
 */
const bannedWords: Readonly<Record<string, string>> = {
  Few: "SmallMap",
  Layered: "OverlayMap",
  within: "withTimeout",
  AnswerUser: "ResponseHandler",
  RequestUser: "RequestHandler",
  ExchangeUser: "ExchangeHandler",
  AnswerReader: "ResponseParser",
  BadAnswer: "MalformedResponseError",
  Posted: "RequestHandle",
  Keeper: "ConnectionOwner",
  keeper: "owner",
  keptMs: "keepAliveMs",
  untouched: "nothingReceived",
  LentPeers: "ExclusivePeerPool",
  OwnedPeers: "SessionPeers",
  owe: "markStale",
  owed: "stale",
  takeUp: "resume",
  takeUpSession: "resumeSession",
  takenUp: "resumed",
  waysOf: "sinkFor",
  Counting: "CallMetrics",
  aside: "aroundLocal",
  Excess: "LimitViolation",
  Struck: "LimitCounter",
  struck: "counter",
  mended: "recovered",
  Reloads: "ReloadHistory",
  oddity: "unexpectedAnswerReason",
  forgo: "abandonQuestion",
  overQuestion: "expiredWhileAsking",
  inWords: "toDisplayText",
  outliveMistakes: "surviveUncaughtErrors",
  giveUp: "abort or abandon",
  foundName: "namedOrThrow",
  foundUri: "resolvedOrThrow",
};

describe("identifiers", () => {
  const identifiersOf = (text: string): Set<string> => {
    const code = text
      .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "")
      .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
      .replace(/`(?:[^`\\]|\\.)*`/g, (template) =>
        [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, inner]) => inner).join(";"),
      );
    return new Set(code.match(/[A-Za-z_$][\w$]*/g));
  };

  test("are words of the glossary, not of one person", () => {
    const sample = '/* few */ const a = "Few"; // Few\nlet b = `Few ${c.Layered}`;';
    expect([...identifiersOf(sample)]).toEqual(["const", "a", "let", "b", "c", "Layered"]);
    const found = sources.flatMap(({ file, text }) =>
      [...identifiersOf(text)]
        .filter((name) => Object.hasOwn(bannedWords, name))
        .map((name) => `${file}: ${name} is called ${bannedWords[name]}`),
    );
    expect(found).toEqual([]);
  });

  test("call bounds MAX_… and MIN_…", () => {
    const found = sources.flatMap(({ file, text }) =>
      [...identifiersOf(text)]
        .filter((name) => /^(MOST|LONGEST|LARGEST|DEEPEST|WIDEST|LEAST|SHORTEST|SMALLEST|FEWEST)(_|$)/.test(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  test("call the eras legacy and modern", () => {
    const synonym =
      /\b(?:era|\w+Era)["']?\)?\s*(?::|={1,3}|!==?|\?\?)\s*["'](?!legacy["']|modern["'])\w+["']|["'](?:stateless|sessionful)["']/;
    const found = sources.flatMap(({ file, text }) => {
      const lines = text
        .split("\n")
        .flatMap((line, i) => (synonym.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []));
      const names = [...identifiersOf(text)]
        .filter((name) => /stateless|sessionful/i.test(name))
        .map((name) => `${file}: ${name}`);
      return [...lines, ...names];
    });
    expect(found).toEqual([]);
  });

  test("of the API's schemas name nothing in the domain", () => {
    const exported = (text: string): string[] =>
      [...text.matchAll(/^export (?:abstract )?(?:class|const|interface|type) ([A-Z]\w*)/gm)].map(([, name]) => name!);
    const isSchema = (file: string): boolean => /^admin[\\/].*schema\.ts$/.test(file);
    const schemas = new Set(sources.filter(({ file }) => isSchema(file)).flatMap(({ text }) => exported(text)));
    expect(schemas.size).toBeGreaterThan(50);
    // The library's types are the API's in the words of its users.
    const found = sources
      .filter(({ file }) => !isSchema(file) && file !== "app/library/library.ts")
      .flatMap(({ file, text }) =>
        exported(text)
          .filter((name) => schemas.has(name))
          .map((name) => `${file}: ${name}`),
      );
    expect(found).toEqual([]);
  });
});
