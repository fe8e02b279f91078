#!/usr/bin/env node
import { run } from "../bundle/goblin.js";

process.exitCode = await run(process.argv.slice(2));
