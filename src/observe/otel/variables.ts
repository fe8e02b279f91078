/** Reads values of the standard environment variables of OpenTelemetry. */

/** The longest time that a timer can have. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns the whole number, or the preset if it is none above zero. */
export function positive(text: string | undefined, preset: number): number {
  const value = Math.floor(Number(text));
  return value >= 1 ? Math.min(value, MAX_TIMER_MS) : preset;
}

/** Reads `a=1,b=2`, with percent-encoded values. An entry without a name or a sign has no value. */
export function pairs(text: string | undefined): [name: string, value: string][] {
  const parts = (text ?? "").split(",").filter((part) => part.trim() !== "");
  return parts.map((part) => {
    const at = part.indexOf("=");
    if (at <= 0) return ["", ""];
    const value = part.slice(at + 1).trim();
    try {
      return [part.slice(0, at).trim(), decodeURIComponent(value)];
    } catch {
      return [part.slice(0, at).trim(), value];
    }
  });
}
