#!/usr/bin/env node
/*
 * Entry point for every npm script: `node setup/run.mjs <start|test|test:rest|test:all|bench|fuzz|build> [arguments]`.
 * Needs no installed packages and completes the setup. Uses old syntax, so an old Node.js reaches the version
 * check and prints the problem instead of failing to parse.
 */
import { nodeProblem } from './node.mjs';

var problem = nodeProblem(process.versions.node);
if (problem) {
	console.error(problem);
	process.exit(1);
}
import('./command.mjs')
	.then(function run(module) {
		return module.command(process.argv[2], process.argv.slice(3));
	})
	.catch(function report(error) {
		console.error(error);
		process.exitCode = 1;
	});
