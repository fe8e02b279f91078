// @ts-check
// `npm run fuzz -- [--seconds 60] [--seed 7] [--only front|backend] [--case N]`: random input to a
// gateway process, from clients and from servers.
//
// A run is told by its seed: the same seed gives the same cases, and a failure names the seed and
// the case to repeat it with. It prints one line for each fuzzer and ends with 1 if anything was
// wrong. Needs `npm run build`.

import { parseArgs } from "node:util";
import { backendKinds, fuzzBackend } from "./backend.js";
import { frontKinds, fuzzFront } from "./front.js";
import { startGateway } from "./gateway.js";

/**
 * @typedef {object} Run
 * @property {number} seed
 * @property {number | undefined} only the one case to run
 * @property {import("./gateway.js").Target} target
 * @property {(index: number) => boolean} goesOn whether the case is still to be run
 * @property {(index: number, story: string, verdict: import("./judges.js").Verdict) => void} judge
 * @property {() => void} done one case more
 */

const MAX_FAILURES = 10;
const fuzzers = /** @type {const} */ ({
  front: { kinds: frontKinds, fuzz: fuzzFront },
  backend: { kinds: backendKinds, fuzz: fuzzBackend },
});

/**
 * @param {{ seed: number, seconds: number, only?: number | undefined, target:
 * import("./gateway.js").Target, fuzz: (run: Run) => Promise<void> }} options
 */
export async function runFuzzer({ seed, seconds, only, target, fuzz }) {
  const end = performance.now() + seconds * 1000;
  /** @type {{ index: number, story: string, verdict: string }[]} */
  const failures = [];
  let cases = 0;
  let rssMb = 0;
  const sampler = setInterval(() => {
    rssMb = Math.max(rssMb, target.usage()?.rssMb ?? 0);
  }, 250);
  await fuzz({
    seed,
    only,
    target,
    goesOn: (index) =>
      only === undefined
        ? performance.now() < end && failures.length < MAX_FAILURES && target.ended() === undefined
        : index <= only,
    judge: (index, story, verdict) => {
      if (verdict !== undefined) failures.push({ index, story, verdict });
    },
    done: () => {
      cases++;
    },
  });
  clearInterval(sampler);
  return { cases, failures, rssMb };
}

async function main() {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: String(Date.now() % 1e6) },
      only: { type: "string" },
      case: { type: "string" },
    },
  });
  const seed = Number(values.seed);
  const chosen = Object.entries(fuzzers).filter(([name]) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new Error(`--only is "front" or "backend", not "${values.only}"`);
  let failed = false;
  for (const [name, { kinds, fuzz }] of chosen) {
    const target = await startGateway(kinds);
    const seconds = Number(values.seconds) / chosen.length;
    const only = values.case === undefined ? undefined : Number(values.case);
    const { cases, failures, rssMb } = await runFuzzer({ seed, seconds, only, target, fuzz });
    await target.stop();
    for (const { index, story, verdict } of failures) {
      const again = index < 0 ? "" : `\n  npm run fuzz -- --only ${name} --seed ${seed} --case ${index}`;
      console.log(`FAILED ${name}, seed ${seed}, case ${index}: ${verdict}\n  ${story}${again}`);
    }
    const result = failures.length === 0 ? "nothing wrong" : `${failures.length} FAILED`;
    console.log(
      `fuzz ${name}: seed ${seed}, ${cases} cases in ${seconds} s, at most ${Math.round(rssMb)} MB: ${result}`,
    );
    failed ||= failures.length > 0 || cases === 0;
  }
  process.exit(failed ? 1 : 0);
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].replaceAll("\\", "/"))) await main();
