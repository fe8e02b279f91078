/** Live charts as plain SVG: an area for each series, the newest value on the right. */
import { useState } from "preact/hooks";
import { duration } from "../format.ts";

export interface Series {
  readonly label: string;
  readonly tone: "main" | "bad" | "second";
  readonly values: readonly (number | null)[];
}

const WIDTH = 300;
const HEIGHT = 80;
/** Where the largest value is. */
const TOP = 4;
const BOTTOM = HEIGHT - 2;

export function Chart(props: {
  title: string;
  series: readonly Series[];
  format: (value: number) => string;
  slots: number;
}) {
  const [at, setAt] = useState<number | undefined>();
  const { series, slots, format } = props;
  const largest = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const most = largest || 1;
  const span = duration(slots * 1000);
  const last = at ?? slots - 1;
  const valueAt = (values: Series["values"], slot: number) => values[values.length - slots + slot] ?? null;
  return (
    <figure class="chart">
      <figcaption>
        <span>{props.title}</span>
        {series.map((one) => {
          const value = valueAt(one.values, last);
          return (
            <span key={one.label} class={`key key-${one.tone}`}>
              {one.label} <b>{value === null ? "–" : format(value)}</b>
            </span>
          );
        })}
      </figcaption>
      <div class="chart-scale chart-most" aria-hidden="true">
        {format(largest)}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${props.title}, the last ${span}, at most ${format(largest)}`}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setAt(Math.min(slots - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * slots))));
        }}
        onPointerLeave={() => setAt(undefined)}
      >
        <line class="grid" x1="0" x2={WIDTH} y1={TOP} y2={TOP} />
        <line class="grid" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {series.map((one) => (
          <g key={one.label} class={`series series-${one.tone}`}>
            <path class="area" d={pathOf(one.values, { slots, most, closed: true })} />
            <path class="line" d={pathOf(one.values, { slots, most, closed: false })} />
          </g>
        ))}
        {at !== undefined && <line class="cursor" x1={xOf(at, slots)} x2={xOf(at, slots)} y1="0" y2={HEIGHT} />}
      </svg>
      <div class="chart-scale" aria-hidden="true">
        <span>{`${span} ago`}</span>
        <span>now</span>
      </div>
    </figure>
  );
}

function xOf(slot: number, slots: number): number {
  return (slot / (slots - 1)) * WIDTH;
}

function pathOf(values: Series["values"], options: { slots: number; most: number; closed: boolean }): string {
  const { slots, most, closed } = options;
  const shown = values.slice(-slots);
  const first = slots - shown.length;
  const points = shown.map((value, index) => {
    const y = BOTTOM - ((value ?? 0) / most) * (BOTTOM - TOP);
    return `${xOf(first + index, slots).toFixed(1)} ${y.toFixed(1)}`;
  });
  if (points.length === 0) return "";
  const line = `M${points.join("L")}`;
  return closed ? `${line}L${WIDTH} ${HEIGHT}L${xOf(first, slots).toFixed(1)} ${HEIGHT}Z` : line;
}
