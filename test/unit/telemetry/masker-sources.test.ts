import { expect, test } from "vitest";
import { Masker } from "../../../src/telemetry/masker.ts";

test("the secrets of one source stay hidden when those of another change", () => {
  const masker = new Masker();
  masker.hide(["config-secret"]);
  masker.hide(["first-token"], "logins");
  masker.hide(["second-token"], "logins");
  masker.hide(["other-secret"]);
  expect(masker.text("config-secret first-token second-token other-secret")).toBe(
    "config-secret first-token [hidden] [hidden]",
  );
});
