// The health check of the container: asks the gateway in it. With gateway.tls, the gateway speaks
// https with a certificate for another name; who answers on this port is Goblin all the same.
import { get } from "node:http";
import { get as getSecurely } from "node:https";

const options = { host: "127.0.0.1", port: process.env.GOBLIN_PORT || 3000, path: "/health", timeout: 4000 };

/** @param {typeof get} ask @param {() => void} otherwise */
function check(ask, otherwise) {
  const request = ask({ ...options, rejectUnauthorized: false }, (response) => {
    process.exitCode = response.statusCode === 200 ? 0 : 1;
    response.resume();
  });
  request.on("timeout", () => request.destroy());
  request.on("error", otherwise);
}

check(get, () =>
  check(getSecurely, () => {
    process.exitCode = 1;
  }),
);
