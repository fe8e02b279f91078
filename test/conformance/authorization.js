/**
 * The suite's scenarios for authorization servers, run against Goblin's own (pairing). Where the
 * suite asks for a person, this one opens the page and types the code that `goblin pair` prints.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { readResults } from "./checks.js";
import { runToEnd, startServer } from "./children.js";

const VERSION = "0.2.0-alpha.12";
const SUITE_MS = 120_000;

/** `work`: a folder for the config, the state and the results. */
export async function runAuthorization({ installed, root, work }) {
  const program = join(root, "bin", "goblin.js");
  const [port, callbackPort] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${port}`;
  const config = join(work, "pairing.json");
  const gateway = { port, publicUrl: issuer, auth: { pairing: true } };
  writeFileSync(config, JSON.stringify({ mcpServers: {}, gateway }));
  const goblin = await startServer([program, "serve", "--config", config], { XDG_STATE_HOME: work });
  const results = join(work, "authorization");
  const person = async (url) => {
    const pair = [program, "pair", "--config", config, "--json"];
    process.env.XDG_STATE_HOME = work;
    const { output } = await runToEnd(process.execPath, pair, SUITE_MS);
    await consent(url, JSON.parse(output.slice(output.indexOf("{"))).code);
  };
  try {
    const clientId = await register(issuer, `http://127.0.0.1:${callbackPort}/callback`);
    const args = [
      installed.entry(VERSION),
      "authorization",
      "--url",
      issuer,
      "--client-id",
      clientId,
      "--resource",
      `${issuer}/mcp`,
      "--port",
      String(callbackPort),
      "--output-dir",
      results,
    ];
    let asked;
    let seen = "";
    const { late, output } = await runToEnd(installed.node, args, SUITE_MS, (text) => {
      seen += text;
      const url = /^http\S+\/oauth\/authorize\?\S+$/m.exec(seen)?.[0];
      if (url !== undefined) asked ??= person(url);
    });
    await asked;
    if (late) throw new Error(`the authorization scenarios did not end:\n${output.slice(-2000)}`);
    return readResults(results);
  } finally {
    await goblin.stop();
  }
}

async function register(issuer, redirectUri) {
  const answer = await fetch(`${issuer}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "conformance", redirect_uris: [redirectUri] }),
  });
  return (await answer.json()).client_id;
}

/** Opens the page, types the code, and follows the redirect. */
async function consent(url, code) {
  const shown = await fetch(url);
  const cookie = shown.headers.getSetCookie()[0].split(";")[0];
  const ticket = /name="ticket" value="([^"]+)"/.exec(await shown.text())[1];
  const answer = await fetch(new URL("/oauth/authorize", url), {
    method: "POST",
    headers: { cookie },
    body: new URLSearchParams({ ticket, code, choice: "allow" }),
    redirect: "manual",
  });
  await fetch(answer.headers.get("location"));
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
