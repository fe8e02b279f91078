/** Isolation for a few generated worlds; `isolation.slow.ts` tries many. */
import { afterEach, test } from "vitest";
import { disposeAll } from "../../fixtures/peers.ts";
import { agreement } from "./isolation.ts";
import { silence } from "./silence.ts";

afterEach(disposeAll);

test("every way to ask agrees about what exists, whatever the rules and profiles are", () => agreement(1), 120_000);

test(
  "nothing of one principal reaches another, whatever they do and are shown at the same time",
  () => silence(2),
  120_000,
);
