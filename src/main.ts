#!/usr/bin/env node
import { createProgram } from './command/program.js';

/** Command line: each process runs a single command. */

await createProgram(process.env).parseAsync();
