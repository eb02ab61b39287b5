import { isRecord } from './equal-json.js';

/** Existing or new environment. */
interface ConfiguredEnvironment {
	readonly key: string;
	readonly settings?: unknown;
}

/** True for a production environment. The settings decide, or else the key (docs/policy/console.md: Production). */
export function isProductionEnvironment({ key, settings }: ConfiguredEnvironment): boolean {
	const said = isRecord(settings) ? settings['production'] : undefined;
	return typeof said === 'boolean' ? said : ['production', 'prod'].includes(key);
}
