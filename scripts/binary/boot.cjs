// @ts-check
// The entry of the single executable. It takes the executable for the package's folder: a module at
// <executable>/bundle/goblin.js is read from inside of it. So the command runs from the same files as
// an installed package. A first word that names such a file runs that file instead of the command:
// this is how the command starts itself again, and the demo servers.

const { registerHooks } = require("node:module");
const { sep, join } = require("node:path");
const { getAsset } = require("node:sea");
const { pathToFileURL } = require("node:url");

const folder = `${pathToFileURL(process.execPath).href}/`;

registerHooks({
  resolve(specifier, context, next) {
    const isOwn = specifier.startsWith(folder) || (/^\.\.?\//.test(specifier) && context.parentURL?.startsWith(folder));
    if (!isOwn) return next(specifier, context);
    return { url: new URL(specifier, context.parentURL).href, format: "module", shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith(folder)) return next(url, context);
    return { format: "module", source: getAsset(url.slice(folder.length), "utf8"), shortCircuit: true };
  },
});

const [, , ...words] = process.argv;
const isFile = words[0]?.startsWith(process.execPath + sep) && words[0].endsWith(".js");
const script = (isFile && words.shift()) || join(process.execPath, "bin/goblin.js");
process.argv = [process.execPath, script, ...words];
import(pathToFileURL(script).href);
