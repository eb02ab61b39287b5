import { ConfigError } from '../config.js';

/** Resource in an argument: `type`, or `type:key` for an instance. */
export interface ResourceWord {
	readonly type: string;
	readonly key?: string;
}

/** Parses a resource argument. Throws `ConfigError` if it is neither `type` nor `type:key`. */
export function parseResource(word: string): ResourceWord {
	const colon = word.indexOf(':');
	const [type, key] = colon === -1 ? [word] : [word.slice(0, colon), word.slice(colon + 1)];
	if (type === '' || key === '') throw new ConfigError(`\`${word}\` is not a resource. Use type or type:key.`);
	return key === undefined ? { type } : { type, key };
}
