/** The page's entry: draws the app into the document that the gateway serves at /ui. */
import { render } from "preact";
import { App } from "./app.tsx";

const root = document.getElementById("root");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
