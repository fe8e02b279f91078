/**
 * A list that draws only the rows on the screen, so that 10 000 of them scroll like ten. All rows
 * have the same height, which the style sheet sets as well.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const OVERSCAN = 8;

export function VirtualList<Item>(props: {
  label: string;
  items: readonly Item[];
  rowHeight: number;
  keyOf: (item: Item) => string;
  row: (item: Item, index: number) => ComponentChildren;
  /** Scrolls to the end when rows come, unless the reader has scrolled up. */
  follow?: boolean;
}) {
  const { items, rowHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const atEnd = useRef(true);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (props.follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  });

  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return (
    // A list with its own scroll bar must be reachable by keyboard.
    <div
      ref={box}
      class="virtual"
      role="list"
      aria-label={props.label}
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight;
        setTop(scrollTop);
      }}
    >
      <div class="virtual-space" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, offset) => (
          <div
            key={props.keyOf(item)}
            class="virtual-row"
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={first + offset + 1}
            style={{ top: `${(first + offset) * rowHeight}px`, height: `${rowHeight}px` }}
          >
            {props.row(item, first + offset)}
          </div>
        ))}
      </div>
    </div>
  );
}
