/**
 * Rego to list the matching condition sets, for callers with set keys. A check does not use this list, but calls the
 * sets of its action directly.
 */
import { groupBy } from '../group-by.js';
import type { ConditionSet, RegoFile } from '../model.js';
import { canonical, sortedBy } from '../order.js';
import { packagePart } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { rule } from '../rego/rule.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { selectsCall } from './set-policy.js';

/**
 * Writes the package `regolith.matching`. It contains the keys of the user sets matching the check's user, and for each
 * type the keys of the resource sets matching the check's resource. Returns no file if there are no condition sets.
 *
 * Many sets share a rule, because compile time grows with the square of the number of rules looked up by name.
 */
export function writeMatching(conditionSets: readonly ConditionSet[]): readonly RegoFile[] {
	if (conditionSets.length === 0) return [];
	const sets = sortedBy(conditionSets, (set) => set.key);
	const users = sets.filter((set) => set.type === 'userset');
	const byResource = groupBy(
		sets.filter((set) => set.type === 'resourceset'),
		(set) => set.resource ?? '',
	);
	return [
		regoFile('regolith/matching/matching.rego', [
			rego`package regolith.matching`,
			rego`import data.regolith.attributes`,
			...described('User sets that match the user', rego`user_sets`, users),
			...canonical(byResource.keys()).flatMap((resource) =>
				described(
					'Resource sets of the type that match the resource',
					rego`resource_sets${packagePart(resource)}`,
					byResource.get(resource) ?? [],
				),
			),
		]),
	];
}

/** Writes a body for each set. The METADATA block is on the first body. */
function described(title: string, head: Fragment, sets: readonly ConditionSet[]): readonly Fragment[] {
	const [first, ...others] = sets.map(({ type, key, resource }) =>
		rule(rego`${head} contains ${key}`, [
			// A user set with a resource names roles on instances of this resource only.
			...(type === 'userset' && resource !== null ? [rego`input.resource.type == ${resource}`] : []),
			selectsCall(type, key, rego`attributes.`),
		]),
	);
	return first === undefined ? [] : [lines([metadata({ title }), first]), ...others];
}
