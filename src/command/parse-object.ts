import { ConfigError } from '../config.js';

/** Parses an option value. Throws `ConfigError` if it is not a JSON object. */
export function parseObject(option: string, text: string): object {
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
	} catch {
		// Invalid JSON is reported below.
	}
	throw new ConfigError(`${option}: must be a JSON object`);
}
