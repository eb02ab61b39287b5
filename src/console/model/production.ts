import { isRecord } from './equal-json.js';

/** What is known of an environment, or of one that is to be made. */
interface ConfiguredEnvironment {
	readonly key: string;
	readonly settings?: unknown;
}

/** Whether an environment is in production: its settings say so, or else its key does (docs/console.md: Production). */
export function isProductionEnvironment({ key, settings }: ConfiguredEnvironment): boolean {
	const said = isRecord(settings) ? settings['production'] : undefined;
	return typeof said === 'boolean' ? said : ['production', 'prod'].includes(key);
}
