/** Mapping rules in proxy configs, in matching order. */

import { z } from 'zod';
import type { Json } from '../../../compiler/model.js';
import { jsonMembers } from './json-members.js';

const Rule = z.object({
	url: z.string(),
	url_type: z.literal('regex').nullish(),
	http_method: z.string(),
	resource: z.string(),
	action: z.string().nullish(),
	priority: z.number().nullish(),
});

const List = z.array(z.unknown()).catch([]);

export class MappingRule {
	readonly resource: string;
	readonly action: string;
	readonly method: string;
	readonly priority: number;
	/** A template, or a regular expression. */
	readonly url: string;
	readonly isRegex: boolean;

	constructor(given: z.output<typeof Rule>) {
		this.url = given.url;
		this.isRegex = given.url_type === 'regex';
		this.resource = given.resource;
		this.method = given.http_method.toLowerCase();
		// By default, the action is the method.
		this.action = given.action ?? this.method;
		this.priority = given.priority ?? 0;
	}
}

/** Parsed rules, keyed by their source array, so unchanged arrays are parsed only once. */
const known = new WeakMap<object, readonly MappingRule[]>();

function rulesIn(value: Json): readonly MappingRule[] {
	if (typeof value !== 'object' || value === null) return [];
	const before = known.get(value);
	if (before !== undefined) return before;
	const rules = List.parse(value).flatMap((item) => {
		const { data } = Rule.safeParse(item);
		return data === undefined ? [] : [new MappingRule(data)];
	});
	known.set(value, rules);
	return rules;
}

/** Mapping rules in all proxy configs. Values with an unexpected shape are ignored. */
export class MappingRules {
	#byMethod: ReadonlyMap<string, readonly MappingRule[]> | undefined;

	/** @param value the value at `regolith.mapping_rules`: rules keyed by proxy config key. */
	constructor(readonly value: Json) {}

	/**
	 * Returns the rules for an HTTP method, ignoring case: highest priority first, then by config key, then in config
	 * order.
	 */
	forMethod(method: string): readonly MappingRule[] {
		this.#byMethod ??= groupedByMethod(this.value);
		return this.#byMethod.get(method.toLowerCase()) ?? [];
	}
}

function groupedByMethod(value: Json): ReadonlyMap<string, readonly MappingRule[]> {
	const configs = jsonMembers(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
	const all = configs.flatMap(([, rules]) => rulesIn(rules)).toSorted((left, right) => right.priority - left.priority);
	const byMethod = new Map<string, MappingRule[]>();
	for (const rule of all) {
		const others = byMethod.get(rule.method) ?? [];
		others.push(rule);
		byMethod.set(rule.method, others);
	}
	return byMethod;
}
