import type { KeyRequest } from '../compose/bootstrap.js';
import { type Config, ConfigError, readConfig } from '../config.js';
import { fail } from './console.js';
import type { Run } from './declaration.js';
import type { SharedOptions, Variables } from './session.js';

/**
 * Commands that run a server or work on its store. Only these commands load the server modules, because loading them
 * takes longer than most commands need.
 */

/** Runs a server until it is stopped. */
export function running(
	variables: Variables,
	command: 'start' | 'serve' | 'pdp' | 'decisionWorker',
): (options: object) => Promise<void> {
	return async (options) => {
		try {
			// Files written by a server or its processes are private to their owner.
			process.umask(0o077);
			const config = readConfig(variables);
			const run: (config: Config, options: object) => Promise<void> = (await import('./run.js'))[command];
			await run(config, options);
		} catch (error) {
			fail(error);
		}
	};
}

/** Prints a console link with a ticket for the running server. */
export function openConsole(variables: Variables): Run<SharedOptions, []> {
	return async (_, { project = null, environment = null }) => {
		const config = readConfig(variables);
		const { newConsoleLink } = await import('./run.js');
		const url = await newConsoleLink(config, { project, environment });
		return { text: `${url}\n`, json: { url } };
	};
}

export interface LineageOptions extends SharedOptions {
	readonly reason: string;
}

/** Begins a new lineage in the store, or through the process that holds the data directory. */
export function renewLineage(variables: Variables): Run<LineageOptions, []> {
	return async (_, { reason }) => {
		const config = readConfig(variables);
		const { newLineage } = await import('./run.js');
		const lineage = await newLineage(config, reason);
		return { text: `${lineage}\n`, json: { lineage } };
	};
}

export interface KeyOptions extends SharedOptions {
	readonly access: KeyRequest['access_level'];
	readonly name?: string;
}

/** Creates an API key in the store, or through the process that holds the data directory. */
export function createKey(variables: Variables): Run<KeyOptions, []> {
	return async (_, { project = null, environment = null, access, name = null }) => {
		if (environment !== null && project === null) throw new ConfigError('--environment requires --project');
		const config = readConfig(variables);
		const { newKey } = await import('./run.js');
		const secret = await newKey(config, { project, environment, access_level: access, name });
		return { text: `${secret}\n`, json: { secret } };
	};
}
