/** The mapping rules of proxy configs, in the order in which they are tried. */

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

/** One rule. */
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
		// The contract says nothing of rules without an action.
		this.action = given.action ?? this.method;
		this.priority = given.priority ?? 0;
	}
}

/** Rules by the array that they were read from: what a patch leaves alone is compiled once. */
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

/** The mapping rules of all proxy configs. What has another shape than expected is not there. */
export class MappingRules {
	#byMethod: ReadonlyMap<string, readonly MappingRule[]> | undefined;

	/** @param value the value at `regolith.mapping_rules`: the rules of each proxy config by its key. */
	constructor(readonly value: Json) {}

	/**
	 * The rules for an HTTP method in any case: those of the highest priority first, then by the key of the config, then
	 * in the order of the config.
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
