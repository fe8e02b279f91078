/**
 * What `goblin stdio --attach` and the gateway say to each other. The pipe asks with CONNECT for a
 * tunnel to a name that no machine has. After a 200, both sides send messages, one per line. Lines
 * of the gateway that begin with `#` are for the pipe alone.
 *
 * CONNECT, because no page in a browser can send it, and because other requests stay as they are: a
 * server that listens for upgrades gets those of clients that only offer HTTP/2.
 */
export const ATTACH_TARGET = "attach.goblin:1";
/** What follows `/mcp` in the path of the client's endpoint. */
export const ATTACH_ENDPOINT = "goblin-endpoint";
/** In the answer: identifies the gateway's config, see `configKey`. */
export const ATTACH_CONFIG = "goblin-config";

/** The gateway will close when the calls in flight are over: send further requests to the next. */
export const DRAINING = "#draining";
/** A request that came after that, with its id: nothing was done about it. */
export const REFUSED = "#refused ";
