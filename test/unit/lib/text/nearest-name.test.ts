/**
 * "Did you mean": near names are suggested, far ones are not, and the order of the candidates does
 * not matter.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import { nearestNames } from "../../../../src/lib/text/nearest/nearest-name.ts";

const NAMES = [
  "github_create_issue",
  "github_list_issues",
  "gitlab_create_issue",
  "linear_createIssue",
  "files_read_text_file",
  "slack_post_message",
];

it.each([
  ["a typo", "github_creat_issue", ["github_create_issue"]],
  ["two swapped letters", "github_craete_issue", ["github_create_issue"]],
  ["case and separators", "GitHub.CreateIssue", ["github_create_issue"]],
  ["a missing prefix", "post_message", ["slack_post_message"]],
  ["a typo and a missing prefix", "post_mesage", ["slack_post_message"]],
  ["the words in another order", "issue_create_github", ["github_create_issue"]],
  ["some of the words", "text_file", ["files_read_text_file"]],
])("suggests in spite of %s", (_, name, expected) => {
  expect(nearestNames(name, NAMES).slice(0, expected.length)).toEqual(expected);
});

it("gives the nearest first, equal ones by name, no more than asked for", () => {
  expect(nearestNames("create_issue", NAMES)).toEqual([
    "github_create_issue",
    "gitlab_create_issue",
    "linear_createIssue",
  ]);
  expect(nearestNames("create_issue", NAMES, 1)).toEqual(["github_create_issue"]);
});

it("takes two swapped letters for one mistake", () => {
  expect(nearestNames("raed", ["reed", "read"])).toEqual(["read", "reed"]);
});

it.each(["", "___", "xylophone", "zz"])("suggests nothing for %j", (name) => {
  expect(nearestNames(name, NAMES)).toEqual([]);
});

it("takes candidates of any kind and length", () => {
  const long = "x".repeat(5_000);
  expect(nearestNames(long, [long, "", "_", "y"])).toEqual([long]);
  expect(nearestNames("größe_ändern", ["bild_größe_ändern", "größe_andern"])).toEqual([
    "bild_größe_ändern",
    "größe_andern",
  ]);
});

const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "_", "B"), maxLength: 8 });

it("does not depend on the order of the candidates", () => {
  fc.assert(
    fc.property(letters, fc.array(letters, { maxLength: 12 }), (name, candidates) => {
      expect(nearestNames(name, [...candidates].reverse())).toEqual(nearestNames(name, candidates));
    }),
  );
});

it("always suggests a name that is one edit away", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "d"), minLength: 4, maxLength: 12 });
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom("", "x", "yz"), (name, at, others) => {
      const cut = at % name.length;
      const typo = name.slice(0, cut) + name.slice(cut + 1);
      expect(nearestNames(typo, [name, others])).toContain(name);
    }),
  );
});
