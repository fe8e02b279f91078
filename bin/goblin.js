#!/usr/bin/env -S node --max-semi-space-size=64
import { run } from "../bundle/goblin.js";

process.exitCode = await run(process.argv.slice(2));
