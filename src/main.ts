#!/usr/bin/env node
import { createProgram } from './command/program.js';

/** The command line. Each process runs a single command. */

await createProgram(process.env).parseAsync();
