import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyEdits,
  dropMembers,
  eachMember,
  elementSpans,
  locate,
  memberSpan,
  memberText,
  oneLine,
  prependMembers,
  setMember,
  skipValue,
} from "../../../../src/lib/json/json-text.ts";
import { Wanted } from "../../../../src/lib/json/wanted.ts";

/** JSON values, as text with all the white space that JSON allows. */
const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2, "\t", " \n "))
  .map(([value, space]) => ({ value, text: JSON.stringify(value, null, space) }));
const key = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("a", "__proto__", "", 'q"\\'));
const record = fc
  .tuple(fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }), fc.constantFrom(0, 1, "\t"))
  .map(([value, space]) => ({ value, text: JSON.stringify(value, null, space) }));

describe("compared with JSON.parse and JSON.stringify", () => {
  test("a value ends where it ends, whatever follows", () => {
    fc.assert(
      fc.property(spaced, fc.constantFrom(",1", "}", "]", "  ", ""), ({ text }, rest) => {
        expect(skipValue(text + rest, 0)).toBe(text.length);
      }),
    );
  });

  test("every member is found with its value", () => {
    fc.assert(
      fc.property(record, ({ value, text }) => {
        const found = new Map<string, unknown>();
        eachMember(text, 0, (name, start, end) => found.set(name, JSON.parse(text.slice(start, end))));
        expect(found).toEqual(new Map(Object.entries(JSON.parse(text))));
        for (const name of Object.keys(value)) {
          expect(JSON.parse(memberText(text, name)!)).toEqual(JSON.parse(text)[name]);
        }
        expect(memberSpan(text, 0, "no such member")).toBeUndefined();
      }),
    );
  });

  test("every element is found", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 })), fc.constantFrom(0, 2), (values, space) => {
        const text = JSON.stringify(values, null, space);
        const found = elementSpans(text, 0).map(({ start, end }) => JSON.parse(text.slice(start, end)));
        expect(found).toEqual(JSON.parse(text));
      }),
    );
  });

  test("setting a member gives the object with that member, and leaves the other text alone", () => {
    fc.assert(
      fc.property(record, key, fc.jsonValue({ maxDepth: 1 }), ({ text }, name, value) => {
        const set = JSON.parse(setMember(text, name, JSON.stringify(value)));
        const wanted = JSON.parse(text);
        Object.defineProperty(wanted, name, { value, enumerable: true, configurable: true, writable: true });
        expect(set).toEqual(JSON.parse(JSON.stringify(wanted)));
      }),
    );
  });

  test("dropping members gives the object without them, and dropping none the same text", () => {
    fc.assert(
      fc.property(record, key, ({ value, text }, name) => {
        const dropped = JSON.parse(dropMembers(text, (member) => member === name));
        const rest = Object.entries(value).filter(([member]) => member !== name);
        expect(new Map(Object.entries(dropped))).toEqual(
          new Map(Object.entries(JSON.parse(JSON.stringify(Object.fromEntries(rest))))),
        );
        expect(dropMembers(text, () => false)).toBe(text);
      }),
    );
  });

  test("one line means the same", () => {
    fc.assert(
      fc.property(spaced, ({ text }) => {
        expect(oneLine(text)).not.toMatch(/[\r\n]/);
        expect(JSON.parse(oneLine(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe("what a parser would lose", () => {
  const text = '{"big":9007199254740993, "a":-0,"b":1.0,"c":"x","na\\u006de":"old","c":"y"}';

  test("stays when a member is replaced", () => {
    expect(setMember(text, "name", '"new"')).toBe(
      '{"big":9007199254740993, "a":-0,"b":1.0,"c":"x","na\\u006de":"new","c":"y"}',
    );
  });

  test("of duplicate members the last one counts, as for JSON.parse", () => {
    expect(memberText(text, "c")).toBe('"y"');
    expect(JSON.parse(text).c).toBe("y");
  });

  test("members go in front of an object, an empty one too", () => {
    expect(prependMembers(' { "a":-0}', '"z":1')).toBe(' {"z":1, "a":-0}');
    expect(prependMembers("{ }", '"z":1')).toBe('{"z":1 }');
  });

  test("dropping keeps the text of what stays", () => {
    expect(dropMembers('{"a":1.0,"b":-0, "c":9007199254740993}', (name) => name === "b")).toBe(
      '{"a":1.0,"c":9007199254740993}',
    );
  });

  test("edits apply in any order", () => {
    const edits = [
      { start: 4, end: 5, text: "E" },
      { start: 0, end: 2, text: "" },
      { start: 6, end: 6, text: "!" },
    ];
    expect(applyEdits("abcdef", edits)).toBe("cdEf!");
    expect(applyEdits("abc", [])).toBe("abc");
  });
});

test("text without an object or array has no members and no elements", () => {
  for (const text of ["null", "5", '"{}"', "", "["]) {
    expect(memberSpan(text, 0, "a")).toBeUndefined();
    expect(elementSpans(text, 0)).toEqual([]);
  }
});

test("a long string of escapes is walked once: anything worse would take hours", () => {
  const text = `{"a":"${"\\\\".repeat(2_000_000)}","b":1}`;
  expect(memberText(text, "b")).toBe("1");
});

test("members are found in one walk, and a key that comes twice is named", () => {
  const wanted = new Wanted(["name", "uri", "_meta"]);
  const text = ' { "x" : [ {"name":1} ] , "uri" : "a,b" ,"na\\u006de":{ "uri" : 2 } } ';
  expect(locate(text, 0, wanted)).toBe(text.length - 1);
  expect(wanted.ambiguous?.key).toBeUndefined();
  expect(text.slice(wanted.start(0), wanted.end(0))).toBe('{ "uri" : 2 }');
  expect(text.slice(wanted.start(1), wanted.end(1))).toBe('"a,b"');
  expect([wanted.start(2), wanted.end(2)]).toEqual([-1, -1]);
  const twiceIn = (object: string) => {
    locate(object, 0, wanted);
    return wanted.ambiguous?.key;
  };
  expect(twiceIn('{"name":1,"uri":2,"name":3}')).toBe("name");
  expect(twiceIn('{"name":1,"n\\u0061me":3}')).toBe("name");
  expect(twiceIn('{"x":1,"x":2,"names":3,"nam":4}')).toBeUndefined();
  expect(twiceIn("[1]")).toBeUndefined();
  expect(twiceIn("{}")).toBeUndefined();
});

describe("members of two levels", () => {
  const inner = new Wanted(["name", "uri"]);
  const outer = new Wanted(["id", "params"], { inner: { params: inner } });
  const both = (text: string) => {
    inner.clear();
    locate(text, 0, outer);
    const found = (wanted: Wanted, k: number) =>
      wanted.start(k) === -1 ? undefined : text.slice(wanted.start(k), wanted.end(k));
    return {
      outer: [found(outer, 0), found(outer, 1), outer.ambiguous?.key],
      inner: [found(inner, 0), found(inner, 1), inner.ambiguous?.key],
    };
  };

  test.each([
    ['{"id":1,"params":{"name":"a","x":{"uri":2}},"z":3}', ["1", '{"name":"a","x":{"uri":2}}'], ['"a"', undefined]],
    ['{"params" : { } , "id" : 2}', ["2", "{ }"], [undefined, undefined]],
    ['{"params":{"uri":[1,{"a":"}"}]},"id":"x"}', ['"x"', '{"uri":[1,{"a":"}"}]}'], [undefined, '[1,{"a":"}"}]']],
    ['{"p\\u0061rams":{"n\\u0061me":"}"}}', [undefined, '{"n\\u0061me":"}"}'], ['"}"', undefined]],
    ['{"params":7,"id":1}', ["1", "7"], [undefined, undefined]],
    ["{}", [undefined, undefined], [undefined, undefined]],
  ])("%s", (text, outside, inside) => {
    expect(both(text)).toEqual({ outer: [...outside, undefined], inner: [...inside, undefined] });
  });

  test("that come twice are named", () => {
    expect(both('{"id":1,"params":{},"id":2}').outer[2]).toBe("id");
    expect(both('{"params":{"name":1},"params":{}}').outer[2]).toBe("params");
    expect(both('{"params":{"name":1,"name":1},"id":1}').inner[2]).toBe("name");
  });

  test("are where the parser sees them, for generated objects", () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant({}));
    const message = fc.record(
      { id: value, params: fc.record({ name: value, uri: value, other: value }, { requiredKeys: [] }), more: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(message, fc.constantFrom(0, 1, 3), (made, indent) => {
        const text = JSON.stringify(made, undefined, indent);
        const found = both(text);
        const parsed = (raw: unknown) => (raw === undefined ? undefined : JSON.parse(raw as string));
        const plain = JSON.parse(text) as typeof made;
        expect(found.outer.slice(0, 2).map(parsed)).toEqual([plain.id, plain.params]);
        expect(found.inner.slice(0, 2).map(parsed)).toEqual([plain.params?.name, plain.params?.uri]);
      }),
    );
  });
});
