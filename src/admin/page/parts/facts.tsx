/** What is known of one thing: names and values. Those without a value are left out. */
import { visible } from "../format.ts";

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{visible(value)}</code>
            </dd>
          </div>
        ))}
    </dl>
  );
}
