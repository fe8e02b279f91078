import { expect, test } from "vitest";
import { Attempts, type Begun } from "../../../../src/auth/login-page/attempts.ts";

let count = 0;
const begun = (principal: string): Begun => {
  const state = `s${++count}`;
  const attempt = { url: "", state, issuer: "", finish: () => Promise.reject(new Error("not finished here")) };
  return { attempt, serverId: "one", visitId: state, principal, link: "" };
};

test("nobody pushes out the logins of another, whatever the number of browsers", () => {
  const attempts = new Attempts();
  const mine = begun("me");
  attempts.add(mine);
  for (let n = 0; n < 2000; n++) attempts.add(begun("flooder"));
  for (let n = 0; n < 2000; n++) attempts.add(begun(`principal ${n % 100}`));
  expect(attempts.take(mine.attempt.state, mine.visitId)).toMatchObject({ principal: "me" });
});

test("an attempt ends once, and in its own browser only", () => {
  const attempts = new Attempts();
  const mine = begun("me");
  attempts.add(mine);
  expect(attempts.take(mine.attempt.state, "another")).toBeUndefined();
  expect(attempts.take(mine.attempt.state, mine.visitId)).toBeDefined();
  expect(attempts.take(mine.attempt.state, mine.visitId)).toBeUndefined();
});
