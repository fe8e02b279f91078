/** Isolation for many generated worlds. */
import { afterEach, test } from "vitest";
import { disposeAll } from "../../fixtures/peers.ts";
import { agreement } from "./isolation.ts";
import { silence } from "./silence.ts";

afterEach(disposeAll);

test("every way to ask agrees about what exists, whatever the rules and profiles are", () => agreement(150), 600_000);

test(
  "nothing of one principal reaches another, whatever they do and are shown at the same time",
  () => silence(100),
  600_000,
);
