/**
 * A strict reader of Prometheus' text format 0.0.4, after the format's own description: it throws where Prometheus would refuse the page, and also
 * where a family is not in one piece, a series comes twice, or a histogram does not add up.
 */
export interface Family {
  type: string;
  help: string;
  samples: Sample[];
}

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);
const SUFFIXES: Record<string, string[]> = {
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

export function parsePrometheus(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("The last line must end in a line feed");
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let current = "";
  text
    .slice(0, -1)
    .split("\n")
    .forEach((line, index) => {
      const wrong = (why: string): Error => new Error(`line ${index + 1}: ${why}: ${line}`);
      if (line === "") return;
      const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line);
      if (comment) {
        const [, what, name, rest] = comment as unknown as [string, "HELP" | "TYPE", string, string];
        if (!NAME.test(name)) throw wrong("bad name");
        if (what === "HELP") {
          if (families.has(name)) throw wrong("a family in two pieces");
          families.set(name, { type: "", help: rest, samples: [] });
          current = name;
          return;
        }
        const family = families.get(name);
        if (current !== name || !family || family.type !== "") throw wrong("TYPE out of place");
        if (!TYPES.has(rest)) throw wrong("unknown type");
        family.type = rest;
        return;
      }
      if (line.startsWith("#")) return;
      const sample = readSample(line, wrong);
      const family = families.get(current);
      if (!family || family.type === "") throw wrong("a sample without TYPE");
      const suffixes = SUFFIXES[family.type] ?? [""];
      if (!suffixes.some((suffix) => sample.name === current + suffix)) throw wrong(`not of the family ${current}`);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (series.has(key)) throw wrong("a series twice");
      series.add(key);
      family.samples.push(sample);
    });
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function readSample(line: string, wrong: (why: string) => Error): Sample {
  const name = /^[^\s{]+/.exec(line)?.[0] ?? "";
  if (!NAME.test(name)) throw wrong("bad name");
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith("{")) {
    rest = rest.slice(1);
    while (!rest.startsWith("}")) {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|(?=}))/.exec(rest);
      if (!label) throw wrong("bad labels");
      const [all, key, value] = label as unknown as [string, string, string];
      if (key in labels) throw wrong("a label twice");
      labels[key] = value.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
      rest = rest.slice(all.length);
    }
    rest = rest.slice(1);
  }
  const value = /^[ \t]+(\S+)([ \t]+-?\d+)?$/.exec(rest)?.[1];
  if (value === undefined) throw wrong("no value");
  return { name, labels, value: readValue(value, wrong) };
}

function readValue(text: string, wrong: (why: string) => Error): number {
  if (text === "+Inf" || text === "Inf") return Number.POSITIVE_INFINITY;
  if (text === "-Inf") return Number.NEGATIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) throw wrong("bad value");
  return Number(text);
}

function checkHistogram(name: string, { samples }: Family): void {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _le, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  for (const [key, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const count = group.find((sample) => sample.name === `${name}_count`);
    const bounds = buckets.map(({ labels }) =>
      labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]),
    );
    const sorted = bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]!);
    const rising = buckets.every(({ value }, i) => i === 0 || value >= buckets[i - 1]!.value);
    if (!sorted || !rising || bounds.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count?.value) {
      throw new Error(`${name}${key}: the buckets do not add up`);
    }
    if (!group.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}${key}: no sum`);
  }
}

/** The value of one series. */
export function valueIn(
  families: Map<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  return family?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;
}
