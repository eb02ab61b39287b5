import { kindWord } from '../change/change-words.js';
import { schemaKinds } from '../change/revision-changes.js';
import type { Draft } from '../draft/draft.js';
import { listedName } from '../draft/draft-words.js';
import { isRecord } from '../equal-json.js';
import { derivationSource } from '../matrix/matrix-words.js';
import { derivationName, readDerivations } from '../matrix/policy-schema.js';
import { type SchemaObject, type SchemaObjects, subjectName } from '../matrix/schema-objects.js';
import { textsMember, type Value } from '../matrix/value-members.js';
import type { Phrase } from '../phrase.js';
import { draftedSchema } from './drafted-schema.js';
import { ownKey, type PartName, partName, partResource, readParts, withoutPart } from './schema-part.js';

/** Deletion effects on the schema and on stored facts. */

/** Schema object that a deletion affects. */
export interface RemovalEffect {
	readonly effect: 'deleted' | 'changed' | 'compares';
	/** Object kind in words. */
	readonly kind: string;
	readonly name: string;
	/** Grants and references that a changed object loses. */
	readonly lost: readonly (readonly Phrase[])[];
}

/** Lists the schema objects that a deletion also deletes or changes. */
export function removalEffects(stored: SchemaObjects, draft: Draft, removed: PartName): readonly RemovalEffect[] {
	const before = draftedSchema(stored, draft);
	const after = draftedSchema(stored, withoutPart(stored, draft, removed));
	const owner = subjectName({ kind: 'resource', key: partResource(removed) ?? '', value: null });
	const own = subjectName({ ...removed, value: null });
	const others = [...before].filter(([subject]) => subject !== owner && subject !== own);
	return [
		...ownParts(before, removed),
		...others.flatMap(([subject, object]) => (after.has(subject) ? [] : [effectOn(object, 'deleted')])),
		...others.flatMap(([subject, object]) => {
			const lost = after.has(subject) ? lostReferences(object.value, after.get(subject)?.value) : [];
			return lost.length === 0 ? [] : [{ ...effectOn(object, 'changed'), lost }];
		}),
		...comparingSets(before, removed),
	];
}

/** Lists a deleted resource's actions and attributes. */
function ownParts(before: SchemaObjects, { kind, key }: PartName): readonly RemovalEffect[] {
	if (kind !== 'resource') return [];
	return [...readParts(before).values()].flatMap((part) =>
		(part.kind === 'action' || part.kind === 'attribute') && partResource(part) === key
			? [{ effect: 'deleted', kind: part.kind, name: part.key, lost: [] } as const]
			: [],
	);
}

function effectOn({ kind, key, value }: SchemaObject, effect: RemovalEffect['effect']): RemovalEffect {
	return { effect, kind: kindWord(kind), name: key ?? listedName(kind, value), lost: [] };
}

function lostReferences(before: unknown, after: unknown): readonly (readonly Phrase[])[] {
	if (!isRecord(before) || !isRecord(after)) return [];
	const lost = (name: string) => without(textsMember(before, name), textsMember(after, name));
	const left = new Set(readDerivations(after).map(derivationName));
	return [
		...lost('permissions').map((permission) => ['no longer grants ', { name: permission }]),
		...lost('actions').map((action) => ['no longer contains ', { name: action }]),
		...lost('extends').map((role) => ['no longer extends ', { name: role }]),
		...readDerivations(before)
			.filter((derivation) => !left.has(derivationName(derivation)))
			.map((derivation) => ['is no longer derived from ', ...derivationSource(derivation)]),
	];
}

function without(items: readonly string[], others: readonly string[]): readonly string[] {
	return items.filter((item) => !others.includes(item));
}

/** Lists the condition sets that compare a deleted attribute. They remain, but their comparison no longer matches. */
function comparingSets(before: SchemaObjects, removed: PartName): readonly RemovalEffect[] {
	const resource = partResource(removed);
	if (removed.kind !== 'attribute' && removed.kind !== 'user_attribute') return [];
	const name = JSON.stringify(`${resource === null ? 'user' : 'resource'}.${ownKey(removed)}`);
	return [...before.values()].flatMap((object) => {
		const value: Value = isRecord(object.value) ? object.value : {};
		if (object.kind !== 'condition_set' || (resource !== null && value['resource'] !== resource)) return [];
		return JSON.stringify(value['conditions'] ?? null).includes(name) ? [effectOn(object, 'compares')] : [];
	});
}

/** Part kinds with dependent facts. */
const factOwners: ReadonlySet<string> = new Set(['resource', 'relation', 'resource_role', 'role']);

/** True if stored facts depend on a part. Facts never depend on a part that only the draft contains. */
export function mayHaveFacts(stored: SchemaObjects, name: PartName): boolean {
	return factOwners.has(name.kind) && readParts(stored).has(partName(name));
}

/** Counts the deleted facts in a preview, by kind, such as `3 role assignments`. */
export function deletedFacts(
	changes: readonly { readonly kind: string; readonly operation: string }[],
): readonly string[] {
	const counts = new Map<string, number>();
	for (const { kind, operation } of changes) {
		if (operation !== 'delete' || schemaKinds.some((one) => one === kind)) continue;
		counts.set(kind, (counts.get(kind) ?? 0) + 1);
	}
	return [...counts].map(([kind, count]) => `${count.toLocaleString('en')} ${kindWord(kind)}${count === 1 ? '' : 's'}`);
}
