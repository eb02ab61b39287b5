import type { MappingRules } from '../../../compiler/model.js';
import { ProxyConfig } from '../table/proxy-config.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/**
 * Reads the mapping rules from all proxy configs, or only from the configs with these keys. INVARIANT: reads neither
 * secrets nor rule headers, which may contain secrets: a bundle must never contain secrets.
 */
export async function readMappingRules(
	unit: ReadingUnit,
	keys: readonly string[] | null = null,
): Promise<readonly MappingRules[]> {
	const query = unit.query(ProxyConfig).select('proxy_configs.key', 'proxy_configs.mapping_rules');
	const rows = await (keys === null ? query : query.whereRaw('proxy_configs.key = any(?::text[])', [keys]));
	return rows.map(({ key, mapping_rules }) => ({
		config: key,
		rules: mapping_rules.map(({ headers: _, ...rule }) => rule),
	}));
}
