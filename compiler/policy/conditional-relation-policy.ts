/** Rego for relations with conditional relationships. */
import type { RegoFile, Relation, Resource } from '../model.js';
import { canonical } from '../order.js';
import { keyFolder, packagePart } from '../rego/path.js';
import { lines, rego } from '../rego/rego.js';
import { rule } from '../rego/rule.js';
import { meets } from './grant-condition-policy.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { conditionalSubjectTable, relationPackage } from './role-reference.js';
import { eachObject } from './step-policy.js';

/** Writes a package for each relation that declares conditions. */
export function writeConditionalRelations({ key: type, relations }: Resource): readonly RegoFile[] {
	return relations.flatMap((relation) => {
		const sets = canonical(new Set(relation.grant_conditions));
		return sets.length === 0 ? [] : [writeRelation(type, relation, sets)];
	});
}

/**
 * Writes the package `regolith.conditional_relations.<type>.<relation>`. `related(objects)` returns the subjects of all
 * unconditional relationships to the objects, and of the conditional relationships for which `applies` is true: a set,
 * or a table if no conditional subject counts, and undefined without subjects. `met`, for explanations, contains pairs
 * of a subject of the check's instance and a condition that holds.
 */
function writeRelation(type: string, { key }: Relation, sets: readonly string[]): RegoFile {
	const grantsBySubject = rego`some subject, grants in ${conditionalSubjectTable(key)}`;
	return regoFile(`regolith/conditional_relations/${keyFolder(type)}/${keyFolder(key)}/related.rego`, [
		rego`package ${relationPackage(type, key)}`,
		rego`import data.regolith.rebac`,
		lines([
			metadata({ title: 'Subjects of unconditional and of effective conditional relationships' }),
			rego`related(objects) := rebac.related_and(objects, ${key}, conditional(objects))`,
		]),
		lines([
			rego`conditional(objects) := {subject |`,
			...eachObject,
			rego`	${grantsBySubject}`,
			rego`	applies(grants)`,
			rego`}`,
		]),
		...sets.map((set) =>
			lines([
				metadata({ title: `Under the condition ${set}` }),
				rule(rego`applies(grants)`, meets(rego`grants${packagePart(set)}`, set)),
			]),
		),
		...sets.map((set) =>
			rule(rego`met contains [subject, ${set}]`, [
				rego`object := rebac.instance`,
				grantsBySubject,
				...meets(rego`grants${packagePart(set)}`, set),
			]),
		),
	]);
}
