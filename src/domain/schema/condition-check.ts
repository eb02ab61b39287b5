import type { Condition } from '../../../compiler/condition/condition.js';
import { itemSteps } from '../../../compiler/condition/condition-steps.js';
import { type NamedAttribute, parseConditions, type RelatedName } from '../../../compiler/condition/parse/grammar.js';
import { rolesNamedIn, unknownRoleMessage } from '../../../compiler/condition/resource-roles.js';
import { groupBy } from '../../../compiler/group-by.js';
import { Failure, maxProblems, type Problem } from '../../failure.js';
import { estimateSteps } from '../../pattern/compiled-patterns.js';
import { measurePattern } from '../../pattern/pattern.js';
import type { ConditionSet } from '../../store/table/condition-set.js';
import { attributeKeys, Resource, resourceKeys } from '../../store/table/resource.js';
import { rolesOfResources } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { maxSteps } from '../check-limit/check-steps.js';
import { userResource } from '../environment.js';

/** Attributes that conditions can use in addition to the built-in attributes. */
export interface DefinedAttributes {
	/** User attributes. */
	readonly users: ReadonlySet<string>;
	/** Instance attributes, keyed by resource id. */
	readonly resources: ReadonlyMap<string, ReadonlySet<string>>;
	/** Resource ids, keyed by resource key. */
	readonly ids: ReadonlyMap<string, string>;
}

/** Reads the attributes defined in an environment. */
export async function readDefinedAttributes(unit: ReadingUnit): Promise<DefinedAttributes> {
	const users = await unit.find(Resource, userResource.key);
	const rows = await attributeKeys(unit);
	const byResource = [...groupBy(rows, ({ resource_id }) => resource_id)];
	const resources = new Map(byResource.map(([id, own]) => [id, new Set(own.map(({ key }) => key))]));
	const ids = new Map((await resourceKeys(unit)).map(({ id, key }) => [key, id]));
	return { users: resources.get(users.id) ?? new Set(), resources, ids };
}

/** The set fields needed to check the set's conditions. `resource_id` is absent while it is unknown. */
export interface CheckedSet extends Pick<ConditionSet, 'type' | 'conditions'> {
	readonly resource_id?: string | null;
	readonly parameters?: ConditionSet['parameters'];
}

/**
 * Returns all problems in a set's conditions, each with its location below `at`: grammar violations, undefined
 * attributes and unknown roles. A caller with many sets passes the defined attributes.
 */
export async function conditionProblems(
	unit: ReadingUnit,
	set: CheckedSet,
	at: readonly (string | number)[],
	defined?: DefinedAttributes,
): Promise<readonly Problem[]> {
	const { type, conditions, parameters } = set;
	const bound = set.resource_id !== null && type !== 'grant';
	const parsed = parseConditions(conditions, {
		type,
		bound,
		parameters: Object.keys(parameters ?? {}),
		measurePattern,
	});
	const names = defined ?? (await readDefinedAttributes(unit));
	const problems = [
		...('problems' in parsed
			? parsed.problems
			: [...tooManySteps(parsed.condition), ...(await unknownRoles(unit, set, parsed.condition))]),
		...undefinedAttributes(names, set, parsed.attributes),
		...undefinedRelated(names, parsed.related),
	];
	return problems.map(({ at: place, msg, type }) => ({ loc: [...at, ...place], msg, type }));
}

/** True if a user set's conditions name roles on the resource, or cannot be read. */
export function mayNameRoles(conditions: unknown): boolean {
	const parsed = parseConditions(conditions, { type: 'userset', bound: true });
	return 'problems' in parsed || rolesNamedIn(parsed.condition).length > 0;
}

/**
 * Returns a problem if comparisons of list items would make a check too long. A check repeats them for all items of the
 * largest accepted list.
 */
function tooManySteps(condition: Condition) {
	// A condition has no parameters inside `match`.
	const steps = itemSteps(condition, { parameters: {}, patternSize: estimateSteps });
	if (steps <= maxSteps) return [];
	const msg =
		`a check would take up to ${steps} steps to compare the items of lists, more than ${maxSteps}: compare with fewer ` +
		'values in `match`, and shorten or avoid regular expressions there';
	return [{ at: [], msg, type: 'too_large' }];
}

/** Returns a problem for each named role that the set's resource does not have. */
async function unknownRoles(unit: ReadingUnit, { resource_id }: CheckedSet, condition: Condition) {
	const named = rolesNamedIn(condition);
	if (named.length === 0 || typeof resource_id !== 'string') return [];
	const { key } = await unit.find(Resource, resource_id);
	const known = (await rolesOfResources(unit, [resource_id]).all()).map((role) => role.key);
	return named
		.filter(({ role }) => !known.includes(role))
		.slice(0, maxProblems)
		.map(({ role, at }) => ({ at, msg: unknownRoleMessage(key, role, known), type: 'unknown_role' }));
}

/**
 * Parses a stored set's conditions. Throws `Failure` (`invalid`) for conditions that an earlier release accepted and
 * that the policy now omits.
 */
export function parseStoredCondition({
	key,
	type,
	conditions,
	resource_id,
}: Pick<ConditionSet, 'key' | 'type' | 'conditions' | 'resource_id'>): Condition {
	const parsed = parseConditions(conditions, { type, bound: resource_id !== null });
	if ('condition' in parsed) return parsed.condition;
	const [problem] = parsed.problems;
	throw new Failure('invalid', `the stored conditions of \`${key}\` are invalid: ${problem?.msg ?? ''}`);
}

function undefinedAttributes(defined: DefinedAttributes, set: CheckedSet, attributes: readonly NamedAttribute[]) {
	return attributes.flatMap(({ attribute: { object, path }, at, built_in }) => {
		const [name = ''] = path;
		if (built_in || isDefined(defined, set, object, name)) return [];
		const owner = object === 'user' ? 'users' : set.type === 'userset' ? 'any resource' : 'the resource of the set';
		const msg = `the attribute \`${object}.${name}\` is not defined for ${owner}`;
		return [{ at, msg, type: 'undefined_attribute' }];
	});
}

/** Returns the unknown resources in `fk_resource_type`, and the undefined attributes of their instances. */
function undefinedRelated({ ids, resources }: DefinedAttributes, related: readonly RelatedName[]) {
	return related.flatMap(({ type, attribute, at }) => {
		const id = ids.get(type);
		if (attribute === undefined) {
			return id === undefined ? [{ at, msg: `the resource \`${type}\` does not exist`, type: 'unknown_resource' }] : [];
		}
		if (id === undefined || resources.get(id)?.has(attribute)) return [];
		const msg = `the attribute \`${attribute}\` is not defined for the resource \`${type}\``;
		return [{ at, msg, type: 'undefined_attribute' }];
	});
}

/**
 * True if a condition attribute is defined. A user set can apply to any resource, so a single resource with the
 * attribute is enough.
 */
function isDefined({ users, resources }: DefinedAttributes, set: CheckedSet, object: string, name: string): boolean {
	if (object === 'user') return users.has(name);
	if (object !== 'resource') return true;
	if (set.type !== 'resourceset') return [...resources.values()].some((names) => names.has(name));
	return set.resource_id === undefined || (resources.get(set.resource_id ?? '')?.has(name) ?? false);
}
