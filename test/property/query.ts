import type { Json } from '../../compiler/index.js';

/** A check: may this user do this action in this tenant, on a resource with this type or on this instance? */
export interface Query {
	readonly user: { readonly key: string; readonly attributes?: Attributes };
	readonly action: string;
	readonly context?: Attributes;
	readonly resource: {
		readonly type: string;
		readonly tenant?: string | null;
		readonly key?: string;
		readonly attributes?: Attributes;
	};
}

type Attributes = { readonly [name: string]: Json };
