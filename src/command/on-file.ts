import { ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';
import { visible } from './terminal.js';

/** Runs `work` on a file or folder that the user specified. Throws `ConfigError` with the name and the system error. */
export function onFile<T>(file: string, work: () => T): T {
	try {
		return work();
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		throw new ConfigError(`${visible(file)}: ${visible(errorMessage(error))}`, { cause: error });
	}
}
