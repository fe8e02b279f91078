/**
 * RFC 6570: the specification's own examples both ways, what does not parse, and the laws of
 * matching.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchTemplate } from "../../../../src/lib/uri-template/match.ts";
import {
  expandTemplate,
  parseTemplate,
  type TemplateValues,
  type UriTemplate,
} from "../../../../src/lib/uri-template/template.ts";

function template(text: string): UriTemplate {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return parsed.template;
}

const match = (text: string, uri: string) => matchTemplate(template(text), uri);

const values: TemplateValues = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
};

/** Sections 1.2, 2.4 and 3.2 of the RFC. */
const examples: [string, string][] = [
  ["{var}", "value"],
  ["{hello}", "Hello%20World%21"],
  ["{half}", "50%25"],
  ["O{empty}X", "OX"],
  ["O{undef}X", "OX"],
  ["map?{x,y}", "map?1024,768"],
  ["{x,hello,y}", "1024,Hello%20World%21,768"],
  ["?{x,empty}", "?1024,"],
  ["?{x,undef}", "?1024"],
  ["?{undef,y}", "?768"],
  ["{var:3}", "val"],
  ["{var:30}", "value"],
  ["{list}", "red,green,blue"],
  ["{list*}", "red,green,blue"],
  ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  ["{count}", "one,two,three"],
  ["{/count}", "/one,two,three"],
  ["{/count*}", "/one/two/three"],
  ["{;count}", ";count=one,two,three"],
  ["{;count*}", ";count=one;count=two;count=three"],
  ["{?count}", "?count=one,two,three"],
  ["{?count*}", "?count=one&count=two&count=three"],
  ["{&count*}", "&count=one&count=two&count=three"],
  ["{+var}", "value"],
  ["{+hello}", "Hello%20World!"],
  ["{+half}", "50%25"],
  ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
  ["{+base}index", "http://example.com/home/index"],
  ["O{+empty}X", "OX"],
  ["O{+undef}X", "OX"],
  ["{+path}/here", "/foo/bar/here"],
  ["{+path:6}/here", "/foo/b/here"],
  ["here?ref={+path}", "here?ref=/foo/bar"],
  ["up{+path}{var}/here", "up/foo/barvalue/here"],
  ["{+x,hello,y}", "1024,Hello%20World!,768"],
  ["{+path,x}/here", "/foo/bar,1024/here"],
  ["{+list}", "red,green,blue"],
  ["{+list*}", "red,green,blue"],
  ["{+keys}", "semi,;,dot,.,comma,,"],
  ["{+keys*}", "semi=;,dot=.,comma=,"],
  ["{#var}", "#value"],
  ["{#hello}", "#Hello%20World!"],
  ["{#half}", "#50%25"],
  ["foo{#empty}", "foo#"],
  ["foo{#undef}", "foo"],
  ["{#x,hello,y}", "#1024,Hello%20World!,768"],
  ["{#path,x}/here", "#/foo/bar,1024/here"],
  ["{#path:6}/here", "#/foo/b/here"],
  ["{#list}", "#red,green,blue"],
  ["{#list*}", "#red,green,blue"],
  ["{#keys}", "#semi,;,dot,.,comma,,"],
  ["{#keys*}", "#semi=;,dot=.,comma=,"],
  ["{.who}", ".fred"],
  ["{.who,who}", ".fred.fred"],
  ["{.half,who}", ".50%25.fred"],
  ["www{.dom*}", "www.example.com"],
  ["X{.var}", "X.value"],
  ["X{.empty}", "X."],
  ["X{.undef}", "X"],
  ["X{.var:3}", "X.val"],
  ["X{.x,y}", "X.1024.768"],
  ["X{.list}", "X.red,green,blue"],
  ["X{.list*}", "X.red.green.blue"],
  ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
  ["X{.empty_keys}", "X"],
  ["X{.empty_keys*}", "X"],
  ["{/who}", "/fred"],
  ["{/who,who}", "/fred/fred"],
  ["{/half,who}", "/50%25/fred"],
  ["{/who,dub}", "/fred/me%2Ftoo"],
  ["{/var}", "/value"],
  ["{/var,empty}", "/value/"],
  ["{/var,undef}", "/value"],
  ["{/var,x}/here", "/value/1024/here"],
  ["{/var:1,var}", "/v/value"],
  ["{/list}", "/red,green,blue"],
  ["{/list*}", "/red/green/blue"],
  ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
  ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
  ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  ["{;who}", ";who=fred"],
  ["{;half}", ";half=50%25"],
  ["{;empty}", ";empty"],
  ["{;hello:5}", ";hello=Hello"],
  ["{;v,empty,who}", ";v=6;empty;who=fred"],
  ["{;v,bar,who}", ";v=6;who=fred"],
  ["{;x,y}", ";x=1024;y=768"],
  ["{;x,y,empty}", ";x=1024;y=768;empty"],
  ["{;x,y,undef}", ";x=1024;y=768"],
  ["{;list}", ";list=red,green,blue"],
  ["{;list*}", ";list=red;list=green;list=blue"],
  ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
  ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  ["{?who}", "?who=fred"],
  ["{?half}", "?half=50%25"],
  ["{?x,y}", "?x=1024&y=768"],
  ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["{?x,y,undef}", "?x=1024&y=768"],
  ["{?var:3}", "?var=val"],
  ["{?list}", "?list=red,green,blue"],
  ["{?list*}", "?list=red&list=green&list=blue"],
  ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
  ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ["{&who}", "&who=fred"],
  ["{&half}", "&half=50%25"],
  ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ["{&x,y,empty}", "&x=1024&y=768&empty="],
  ["{&x,y,undef}", "&x=1024&y=768"],
  ["{&var:3}", "&var=val"],
  ["{&list}", "&list=red,green,blue"],
  ["{&list*}", "&list=red&list=green&list=blue"],
  ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
  ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
  ["http://example.com/~{who}/", "http://example.com/~fred/"],
  ["http://example.com/search{?x,list}", "http://example.com/search?x=1024&list=red,green,blue"],
];

describe("the RFC's examples", () => {
  it.each(examples)("%s expands to %s", (text, uri) => {
    expect(expandTemplate(template(text), values)).toBe(uri);
  });

  it.each(examples)("%s matches %s, and what it finds expands to it again", (text, uri) => {
    const found = match(text, uri);
    expect(found).toBeDefined();
    expect(expandTemplate(template(text), found ?? {})).toBe(uri);
  });
});

describe("the values of a match", () => {
  it.each([
    ["mcp://database/{table}/{id}", "mcp://database/users/42", { table: "users", id: "42" }],
    ["{x,hello,y}", "1024,Hello%20World%21,768", { x: "1024", hello: "Hello World!", y: "768" }],
    ["{+path,x}/here", "/foo/bar,1024/here", { path: "/foo/bar", x: "1024" }],
    ["X{.x,y}", "X.1024.768", { x: "1024", y: "768" }],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo", { list: ["red", "green", "blue"], path: "/foo" }],
    ["{/var:1,var}", "/v/value", { var: "value" }],
    ["{list}", "red,green,blue", { list: ["red", "green", "blue"] }],
    ["{?keys*}", "?semi=%3B&dot=.", { keys: { semi: ";", dot: "." } }],
    ["{?list*}", "?list=a&list=b", { list: ["a", "b"] }],
    ["x{?q,n}", "x?n=2&q=a%20b", { q: "a b", n: "2" }],
    ["x{?q,n}", "x?n=2", { n: "2" }],
    ["x{?q,n}", "x", {}],
    ["x?k=1{&q,n}", "x?k=1&n=2&q=1", { q: "1", n: "2" }],
    ["x{;q,n}", "x;n=2;q", { q: "", n: "2" }],
    ["{a,b:3}", ",long%20item", { a: ["", "long item"] }],
    ["{a,b}", "1,2,3", { a: "1", b: ["2", "3"] }],
    ["{+a}xxy{+b}", "xxxyxxxxy", { a: "xxxyxx" }],
    ["{+a}abacabab{b}", "abacabacababz", { a: "abac", b: "z" }],
    ["{+a}.{b}", "x.tar.gz", { a: "x.tar", b: "gz" }],
    ["t://{name}", "t://caf%C3%A9", { name: "café" }],
    ["t://{name}", "t://café", { name: "café" }],
    ["t://caf%c3%a9/{x}", "t://café/%7Ea", { x: "~a" }],
    ["t://{a:1}{b}", "t://%C3%A9t%C3%A9", { a: "é", b: "té" }],
    ["t://{id}", "t://a@b:c", { id: "a@b:c" }],
    ["t://{x}", "t://%FF", { x: "%FF" }],
    ["t://{user-id}", "t://7", { "user-id": "7" }],
    ["", "", {}],
  ])("%s of %s", (text, uri, expected) => {
    expect(match(text, uri)).toEqual(expected);
  });

  it.each([
    ["mcp://database/{table}/{id}", "mcp://database/users"],
    ["mcp://database/{table}/{id}", "mcp://database/users/42/more"],
    ["mcp://database/{table}/{id}", "mcp://databases/users/42"],
    ["mcp://database/{table}/{id}", "MCP://database/users/42"],
    ["t://{id}", "t://a?b"],
    ["t://{id}", "t://a#b"],
    ["x{?q,n}", "x?z=1"],
    ["x{?q,n}", "x?q=1&q=2"],
    ["x{?q,n}", "x?q=1&q=1"],
    ["x{?q}", "x?q=1#f"],
    ["{x}/{x}", "a/b"],
    ["{v:2}", "abc"],
    ["{v:2}/{v}", "ab/cd"],
    ["", "a"],
  ])("%s does not match %s", (text, uri) => {
    expect(match(text, uri)).toBeUndefined();
  });

  it("says how specific a template is", () => {
    const parsed = template("mcp://database/{table}/{id}.json");
    expect(parsed.literalCharacters).toBe(21);
    expect(parsed.literalPrefix).toBe("mcp://database/");
    expect(template("{+all}").literalPrefix).toBe("");
  });
});

describe("what does not parse", () => {
  it.each([
    ["a{b", "'{' is never closed at position 1", 1],
    ["a}b", "'}' without an opening '{' at position 1", 1],
    ["a{}", "empty expression at position 2", 2],
    ["a{=b}", "operator '=' is reserved at position 2", 2],
    ["a{b,,c}", "a variable's name is missing at position 4", 4],
    ["a{b,c d}", "'c d' is no variable name at position 4", 4],
    ["a{?b:0}", "'0' is no prefix length from 1 to 9999 at position 4", 4],
    ["a{b:10000}", "'10000' is no prefix length from 1 to 9999 at position 3", 3],
    ["a{b:3*}", "prefix and explode exclude each other at position 3", 3],
    ["a{{b}}", "'{b' is no variable name at position 2", 2],
    ["{$var}", "'$var' is no variable name at position 1", 1],
  ])("%s: %s", (text, message, position) => {
    expect(parseTemplate(text)).toEqual({ ok: false, message, position });
  });

  it("caps the number of variables", () => {
    expect(parseTemplate("{x}".repeat(129))).toEqual({
      ok: false,
      message: "more than 128 variables at position 384",
      position: 384,
    });
  });
});

describe("laws", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "long_name", "e.f");
  const variable = fc.tuple(name, fc.constantFrom("", "*", ":3")).map(([n, modifier]) => n + modifier);
  const expression = fc
    .tuple(
      fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&"),
      fc.uniqueArray(variable, { minLength: 1, maxLength: 3 }),
    )
    .map(([operator, variables]) => `{${operator}${variables.join(",")}}`);
  const literal = fc.stringMatching(/^[a-z:/.é ?&=,%-]{0,6}$/);
  const anyTemplate = fc.array(fc.oneof(expression, literal), { maxLength: 5 }).map((parts) => parts.join(""));
  const text = fc.oneof(fc.string({ maxLength: 8 }), fc.string({ unit: "grapheme", maxLength: 5 }));
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(text, text, { maxKeys: 2 }));

  it("every expansion matches, if no variable occurs twice", () => {
    fc.assert(
      fc.property(anyTemplate, fc.dictionary(name, value, { noNullPrototype: true }), (source, given) => {
        const names = [...source.matchAll(/[{,+#./;?&]([a-z_]+(?:\.f)?)(?=[:*,}])/g)].map((found) => found[1]);
        fc.pre(new Set(names).size === names.length);
        const parsed = parseTemplate(source);
        fc.pre(parsed.ok);
        const uri = expandTemplate(parsed.template, given);
        expect(matchTemplate(parsed.template, uri), uri).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it("match inverts expand where delimiters keep values apart", () => {
    const plain = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(plain, plain, fc.array(plain, { minLength: 2, maxLength: 4 }), (a, b, list) => {
        for (const source of [
          "t://{a}/{b}/{list}",
          "t://x{/a}/y{/list*}{?b}",
          "t://x{;a,b}{?list*}",
          "t://{b}{?a,list}",
        ]) {
          const given = source.includes("{b}") || source.includes("b}") ? { a, b, list } : { a, list };
          expect(match(source, expandTemplate(template(source), given)), source).toEqual(given);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("a match expands to the URI it was found in, but for a comma that should have been encoded", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9/.,~-]{0,30}$/), (tail) => {
        for (const source of [
          "t://{+a}/{b}",
          "t://{a}{/b,c}",
          "t://{+a,b}",
          "t://x{.a*}",
          "t://{a,b,c}",
          "t://{/a*}{b}",
        ]) {
          const found = match(source, `t://${tail}`);
          if (found !== undefined)
            expect(expandTemplate(template(source), found).replaceAll("%2C", ",")).toBe(`t://${tail}`);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["{+a}{+b}{+c}{+d}z", "a".repeat(100_000), false],
    ["{+a}{+b}{+c}{+d}z", `${"a".repeat(100_000)}z`, true],
    ["{+a}{+b}{+c}{+d}z{+e}", `${"z".repeat(100_000)}`, true],
    [`{+a}${"a".repeat(4000)}b{+c}`, "a".repeat(100_000), false],
    ["{/a*,b*,c*}{/d*,e*}z", "/a".repeat(50_000), false],
    ["{?a*,b*,c*}x", `?${"a=1&".repeat(25_000)}`, false],
    ["{?a,b,c}", `?${"a&".repeat(50_000)}`, false],
    ["{a:9999}{b:9999}{c:9999}z", "a".repeat(100_000), false],
    ["{.a*,b*,c*}!", ".".repeat(100_000), false],
    ["{a}{b}{c}", "%41".repeat(33_000), true],
  ])("%.30s answers a URI of 100 kB, which would take hours by trial", (source, uri, matches) => {
    const parsed = template(source);
    const found = matchTemplate(parsed, uri);
    expect(found !== undefined).toBe(matches);
  });

  it("refuses a product of URI and template beyond its bound", () => {
    expect(match("{+a}".repeat(1) + "{+b}".repeat(100), "a".repeat(1_000_000))).toBeUndefined();
  });
});
