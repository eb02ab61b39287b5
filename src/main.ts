#!/usr/bin/env node
import { createProgram } from './command/program.js';

/** The command line: one process does one command. */

await createProgram(process.env).parseAsync();
