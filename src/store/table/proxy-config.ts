import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { KeyedModel } from './environment-model.js';

/** Mapping from requests for a URL to a resource and action. */
export interface MappingRule {
	readonly url: string;
	/** `regex`: `url` is a regular expression. `null`: parts in braces match anything. */
	readonly url_type: 'regex' | null;
	readonly http_method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';
	/** Resource key. The resource may not exist yet. */
	readonly resource: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly action: string | null;
	/** If several rules match, the rule with the highest priority applies. `null` means 0. */
	readonly priority: number | null;
}

/** Configuration for a proxy in front of a service. Maps requests to permissions, and contains the service's secret. */
export class ProxyConfig extends KeyedModel {
	static override readonly tableName = 'proxy_configs';
	static override readonly jsonAttributes = ['mapping_rules'];
	static readonly kind = 'proxy_config';
	static readonly title = 'ProxyConfig';

	declare name: string;
	/** Encrypted secret: a string, or a map of strings as JSON. The change log omits it: see `changeRecord`. */
	declare secret_cipher: Uint8Array;
	declare auth_mechanism: 'Bearer' | 'Basic' | 'Headers';
	declare mapping_rules: readonly MappingRule[];
}

/** Returns the environment's proxy configs, oldest first. */
export function allProxyConfigs(unit: ReadingUnit): RowQuery<ProxyConfig> {
	return rowQuery(unit.query(ProxyConfig).orderBy('proxy_configs.id'));
}
