/**
 * An MCP App: HTML of a server, in a frame that has no origin, no network and no way to this page.
 * The frame's document comes from the gateway with a policy of its own; the app's HTML is handed to
 * it as a message.
 */
import { useEffect, useRef, useState } from "preact/hooks";

type Contents = Readonly<Record<string, unknown>>;

export function isApp(contents: Contents): boolean {
  const uri = String(contents["uri"] ?? "");
  const mime = String(contents["mimeType"] ?? "");
  return (
    typeof contents["text"] === "string" && (uri.startsWith("ui://") || /^text\/html;\s*profile=mcp-app/i.test(mime))
  );
}

export function AppFrame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!shown) return;
    const ready = (event: MessageEvent): void => {
      if (event.source !== frame.current?.contentWindow || event.data !== "goblin-frame-ready") return;
      // The frame has an opaque origin, which has no name but "*".
      frame.current?.contentWindow?.postMessage({ html }, "*");
    };
    window.addEventListener("message", ready);
    return () => window.removeEventListener("message", ready);
  }, [html, shown]);
  if (!shown) {
    return (
      <button type="button" onClick={() => setShown(true)}>
        Run this app in a sealed frame
      </button>
    );
  }
  return <iframe ref={frame} class="app-frame" title="An app of a server" src="/ui/frame" sandbox="allow-scripts" />;
}
