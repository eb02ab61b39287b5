import type { ReadingUnit } from '../unit/reading-unit.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import { KeyedModel } from './environment-model.js';

/** Which resource and action a request to a URL stands for. */
export interface MappingRule {
	readonly url: string;
	/** `regex`: `url` is a regular expression. `null`: parts in braces stand for anything. */
	readonly url_type: 'regex' | null;
	readonly http_method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';
	/** The key of a resource, which need not exist yet. */
	readonly resource: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly action: string | null;
	/** The highest of the matching rules counts; `null` is 0. */
	readonly priority: number | null;
}

/** What a proxy in front of a service needs: how requests map to permissions, and the secret of the service. */
export class ProxyConfig extends KeyedModel {
	static override readonly tableName = 'proxy_configs';
	static override readonly jsonAttributes = ['mapping_rules'];
	static readonly kind = 'proxy_config';
	static readonly title = 'ProxyConfig';

	declare name: string;
	/** The encrypted secret: a text, or a map of texts as JSON. The change log leaves it out: see `changeRecord`. */
	declare secret_cipher: Uint8Array;
	declare auth_mechanism: 'Bearer' | 'Basic' | 'Headers';
	declare mapping_rules: readonly MappingRule[];
}

/** The proxy configs of the environment, oldest first. */
export function allProxyConfigs(unit: ReadingUnit): RowQuery<ProxyConfig> {
	return rowQuery(unit.query(ProxyConfig).orderBy('proxy_configs.id'));
}
