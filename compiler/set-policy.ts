/** Replaced at the merge. */

import type { Condition } from './condition/condition.js';
import { parseConditions } from './condition/grammar.js';
import type { ConditionSet, RegoFile } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { Fragment as F, type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';

export function writeConditionSet(set: ConditionSet): readonly RegoFile[] {
	const kind = set.type === 'userset' ? rego`user_sets` : rego`resource_sets`;
	const name = set.type === 'userset' ? 'user_sets' : 'resource_sets';
	const body: Fragment[] = [];
	if ('role' in set.selects) body.push(rego`	data.regolith.rbac.held[${set.selects.role}] == null`);
	else if ('resource' in set.selects) body.push();
	else {
		const parsed = parseConditions(set.selects.conditions, { type: set.type });
		if ('condition' in parsed) body.push(...linesOf(parsed.condition));
		if (set.parent !== null) body.push(rego`	data.regolith.${kind}${packagePart(set.parent)}.holds`);
	}
	return [
		regoFile(`regolith/${name}/${folderOf(set.key)}/holds.rego`, [
			rego`package regolith.${kind}${packagePart(set.key)}`,
			rego`default holds := false`,
			body.length === 0
				? rego`holds := true`
				: body.length === 1
					? new F(`holds if ${body[0]?.text.trim()}`)
					: lines([rego`holds if {`, ...body, rego`}`]),
		]),
	];
}

function linesOf(condition: Condition): Fragment[] {
	if (condition.kind === 'all') return condition.conditions.flatMap(linesOf);
	if (condition.kind !== 'comparison' || !('value' in condition.operand)) return [rego`	false`];
	const { object, path } = condition.attribute;
	const builtIn = ['key', 'roles', 'tenants', 'type', 'tenant'].includes(path[0] ?? '');
	const from = builtIn
		? rego`data.regolith.attributes.${new F(`${object}_${path[0]}`)}`
		: rego`data.regolith.attributes.${new F(object)}${packagePart(path[0] ?? '')}`;
	return [rego`	${from} == ${new F(JSON.stringify(condition.operand.value))}`];
}
