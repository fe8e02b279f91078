/**
 * Regular expressions in linear time, in the syntax of RE2 as far as conditions need it.
 *
 * All threads of a match advance together, one character at a time, so no text can make it slow: a
 * client writes the text. It tells only whether a text matches somewhere, so laziness makes no
 * difference. Unsupported syntax is an error, never another meaning.
 */
import { type Node, parsePattern } from "./pattern-syntax.ts";
import type { Budget } from "./work.ts";

const MAX_PROGRAM = 2000;

type Instruction =
  | { readonly op: "char"; readonly test: (code: number) => boolean }
  | { readonly op: "assert"; readonly test: (before: number, after: number) => boolean }
  | { op: "split"; first: number; second: number }
  | { op: "jump"; to: number }
  | { readonly op: "match" };

export class LinearPattern {
  readonly #program: Instruction[] = [];

  /** @throws Error if the pattern is wrong or too large */
  constructor(source: string) {
    this.#emit(parsePattern(source));
    this.#add({ op: "match" });
  }

  /** Whether the pattern matches anywhere in the text. @throws Error if the budget does not last */
  test(text: string, budget: Budget): boolean {
    const program = this.#program;
    budget.match(program.length, text.length);
    const marks = new Int32Array(program.length).fill(-1);
    let current: number[] = [];
    let following: number[] = [];
    let before = -1;
    for (let i = 0; i <= text.length; ) {
      const after = text.codePointAt(i) ?? -1;
      // A match may begin anywhere.
      current.push(0);
      following = [];
      for (let next = current.pop(); next !== undefined; next = current.pop()) {
        if (marks[next] === i) continue;
        marks[next] = i;
        const instruction = program[next]!;
        switch (instruction.op) {
          case "match":
            return true;
          case "char":
            if (after !== -1 && instruction.test(after)) following.push(next + 1);
            break;
          case "assert":
            if (instruction.test(before, after)) current.push(next + 1);
            break;
          case "jump":
            current.push(instruction.to);
            break;
          case "split":
            current.push(instruction.first, instruction.second);
            break;
        }
      }
      current = following;
      before = after;
      i += after > 0xffff ? 2 : 1;
    }
    return false;
  }

  #add(instruction: Instruction): number {
    if (this.#program.length >= MAX_PROGRAM) throw new Error("the pattern is too large");
    return this.#program.push(instruction) - 1;
  }

  #emit(node: Node): void {
    switch (node.kind) {
      case "char":
        this.#add({ op: "char", test: node.test });
        return;
      case "assert":
        this.#add({ op: "assert", test: node.test });
        return;
      case "sequence":
        for (const part of node.parts) this.#emit(part);
        return;
      case "either":
        this.#emitEither(node.options);
        return;
      case "repeat":
        this.#emitRepeat(node);
        return;
    }
  }

  #emitEither(options: readonly Node[]): void {
    const jumps: { op: "jump"; to: number }[] = [];
    for (const [i, option] of options.entries()) {
      if (i === options.length - 1) {
        this.#emit(option);
        break;
      }
      const split = { op: "split" as const, first: 0, second: 0 };
      split.first = this.#add(split) + 1;
      this.#emit(option);
      const jump = { op: "jump" as const, to: 0 };
      this.#add(jump);
      jumps.push(jump);
      split.second = this.#program.length;
    }
    for (const jump of jumps) jump.to = this.#program.length;
  }

  #emitRepeat({ part, least, most }: Extract<Node, { kind: "repeat" }>): void {
    for (let i = 0; i < least; i++) this.#emit(part);
    if (most === Number.POSITIVE_INFINITY) {
      const split = { op: "split" as const, first: 0, second: 0 };
      const at = this.#add(split);
      split.first = at + 1;
      this.#emit(part);
      this.#add({ op: "jump", to: at });
      split.second = this.#program.length;
      return;
    }
    const splits: { second: number }[] = [];
    for (let i = least; i < most; i++) {
      const split = { op: "split" as const, first: 0, second: 0 };
      split.first = this.#add(split) + 1;
      splits.push(split);
      this.#emit(part);
    }
    for (const split of splits) split.second = this.#program.length;
  }
}
