/**
 * Lines for the recorder's thread: what is put together as text is the same bytes as line by line.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Batches, type Opening } from "../../../../src/observe/recording/batch.ts";
import {
  CHECKED,
  endOf,
  kindOf,
  type LineKind,
  type Slot,
  UNCHECKED,
  WHOLE,
} from "../../../../src/observe/recording/thread-messages.ts";

const CLOSING = "}\n";

function collect() {
  const slots = new Map<number, Slot>();
  const batches = new Batches((number, slot) => {
    if (slot) slots.set(number, slot);
    else slots.delete(number);
  });
  /** The lines of a batch, and of each its message and whether it was checked. */
  const take = () => {
    const { slot, lines } = batches.take();
    const bytes = Buffer.from(slots.get(slot)!.bytes);
    const table = new Uint32Array(slots.get(slot)!.table);
    let start = 0;
    const found = Array.from({ length: lines }, (_, line) => {
      const packed = table[2 * line + 1]!;
      const end = endOf(packed);
      const whole = Buffer.from(bytes.subarray(start, end + CLOSING.length));
      const message = Buffer.from(bytes.subarray(table[2 * line]!, end));
      start = end + CLOSING.length;
      return { whole, message, kind: kindOf(packed) };
    });
    batches.give(slot);
    return found;
  };
  return { batches, take };
}

const opening = (begun: string, after: string, kind: LineKind = CHECKED): Opening => {
  return { text: `{"t":1,"frame":${begun}`, begun: begun.length, after, kind };
};

test("short, long, wide and binary messages stand in their lines, in order, to the byte", () => {
  const { batches, take } = collect();
  const long = "ü".repeat(5000);
  const bytes = Buffer.from('{"a":"é"}');
  const invalid = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
  for (const raw of ["1", '"é"', '"𝕏"', bytes, Buffer.from("[2]"), long, invalid, "3"]) {
    expect(batches.add(opening('{"r":', "}"), raw, 1)).toBe(true);
  }
  const messages = ["1", '"é"', '"𝕏"', bytes, "[2]", long, invalid, "3"].map((raw) =>
    Buffer.concat([Buffer.from('{"r":'), Buffer.from(raw as string), Buffer.from("}")]),
  );
  const lines = take();
  expect(lines.map(({ message }) => message)).toEqual(messages);
  expect(lines.map(({ whole }) => whole)).toEqual(
    messages.map((message) => Buffer.concat([Buffer.from('{"t":1,"frame":'), message, Buffer.from(CLOSING)])),
  );
});

test("any messages come out as they went in, whatever fits together", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.integer({ min: 3000, max: 6000 }).map((length) => "x".repeat(length)),
    fc.integer({ min: 1000, max: 3000 }).map((length) => "€".repeat(length)),
  );
  const message = fc.oneof(
    text.map((raw) => ({ raw, bytes: Buffer.from(raw) })),
    fc.uint8Array({ maxLength: 80 }).map((some) => ({ raw: Buffer.from(some), bytes: Buffer.from(some) })),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ message, kind: fc.constantFrom(CHECKED, UNCHECKED, WHOLE) }), { maxLength: 200 }),
      (given) => {
        const { batches, take } = collect();
        const got: { message: Buffer; kind: number }[] = [];
        for (const { message: own, kind } of given) {
          const line = opening("", "", kind);
          if (batches.add(line, own.raw, 1)) continue;
          got.push(...take());
          expect(batches.add(line, own.raw, 1)).toBe(true);
        }
        if (!batches.isEmpty) got.push(...take());
        expect(got.map(({ message: own }) => own.toString("hex"))).toEqual(
          given.map(({ message: own }) => own.bytes.toString("hex")),
        );
        expect(got.map(({ kind }) => kind)).toEqual(given.map(({ kind }) => kind));
      },
    ),
    { numRuns: 60 },
  );
});

test("many wide messages, more than one write takes, stand in their lines", () => {
  const { batches, take } = collect();
  const texts = Array.from({ length: 60 }, (_, line) => `"${line} ${"ü".repeat(line * 20)}"`);
  for (const text of texts) expect(batches.add(opening("", ""), text, 1)).toBe(true);
  expect(take().map(({ message }) => message.toString())).toEqual(texts);
});
