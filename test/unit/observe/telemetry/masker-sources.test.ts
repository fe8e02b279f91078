import { expect, test } from "vitest";
import { Masker } from "../../../../src/observe/telemetry/masker.ts";

test("the secrets of both sources stay hidden, earlier ones too", () => {
  const masker = new Masker();
  masker.hide(["config-secret"]);
  masker.hide(["first-token"], "logins");
  masker.hide(["second-token"], "logins");
  masker.hide(["other-secret"]);
  expect(masker.text("config-secret first-token second-token other-secret")).toBe(
    "[hidden] [hidden] [hidden] [hidden]",
  );
});
