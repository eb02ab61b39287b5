import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * Runs a program without standard input and collects its output.
 * @param {string} program
 * @param {readonly string[]} parameters
 * @param {import('node:child_process').SpawnOptions} [options]
 * @param {(text: string) => void} [heard] called with each chunk from standard error
 * @returns {Promise<{code: number, output: string, stdout: string}>} `code` is 127 if the program could not be started;
 *   `output` contains both streams in arrival order
 */
export function execute(program, parameters, options = {}, heard = () => {}) {
	return new Promise((resolve) => {
		const child = spawn(program, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
		let output = '';
		let stdout = '';
		child.stdout.setEncoding('utf8').on('data', (text) => {
			stdout += text;
			output += text;
		});
		child.stderr.setEncoding('utf8').on('data', (text) => {
			output += text;
			heard(text);
		});
		child.on('error', (error) => resolve({ code: 127, output: error.message, stdout: '' }));
		child.on('close', (code, signal) =>
			resolve({ code: code ?? 128, output: signal ? `${output}${signal}` : output, stdout }),
		);
	});
}

/**
 * Finds an executable file on PATH, like a shell.
 * @param {string} name
 * @param {string} [path]
 * @returns {string | undefined}
 */
export function findOnPath(name, path) {
	return findAllOnPath(name, path)[0];
}

/**
 * Finds every executable file with this name on PATH, in order.
 * @param {string} name
 * @param {string} [path]
 * @returns {string[]}
 */
export function findAllOnPath(name, path = process.env.PATH ?? '') {
	return path
		.split(delimiter)
		.filter((folder) => folder !== '')
		.map((folder) => resolve(folder, name))
		.filter(isExecutable);
}

/**
 * True for an executable file.
 * @param {string} file
 */
export function isExecutable(file) {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
