// @both

/** Past facts: the patches to a past state restore the tables of assignments and relationships. */

import test from 'ava';
import fc from 'fast-check';
import { delta, type PastFact } from '../../compiler/data/delta.js';
import { everyone } from '../../compiler/everyone.js';
import { document, documentBytes } from '../../compiler/index.js';
import type { InstanceAssignment, Json, Model, Relationship } from '../../compiler/model.js';
import { pastNeighbourhood } from '../../src/impact/past-facts.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { modelsOfOneSchema } from '../compiler/model.js';
import { draws, leastDrawn } from '../support/tier.js';
import { patched } from './oracle.js';

type Row = InstanceAssignment | Relationship;

/** The fate of a fact: kept, removed, added, or with a changed expiry or changed values. */
const fates = ['kept', 'kept', 'removed', 'added', 'expiry', 'values'] as const;
type Fate = (typeof fates)[number];

/** Returns each fact once. */
function distinct(rows: readonly Row[]): readonly Row[] {
	const name = ({ condition, ...row }: Row) => JSON.stringify([Object.entries(row).sort(), condition?.set]);
	return [...new Map(rows.map((row) => [name(row), row])).values()];
}

function altered(row: Row, fate: Fate): Row {
	if (fate === 'expiry') return { ...row, expires_at: 5_000 };
	if (fate !== 'values' || row.condition === undefined) return row;
	return { ...row, condition: { ...row.condition, values: { limit: 77 } } };
}

/** Returns a fact's past state: present or absent. */
function pastFact(row: Row, wasThere: boolean): PastFact {
	const until = wasThere ? (row.expires_at ?? null) : undefined;
	const condition = row.condition === undefined ? {} : { condition: row.condition };
	if ('user' in row) {
		const { user, role, type, instance } = row;
		return { kind: 'instance_role', user, role, instance: `${type}:${instance}`, until, ...condition };
	}
	const { type, instance, relation, subject_type, subject } = row;
	const ends = { object: `${type}:${instance}`, relation, subject: `${subject_type}:${subject}` };
	return { kind: 'relationship', ...ends, until, ...condition };
}

function tables(value: Json): Json {
	const { regolith } = value as { readonly regolith: { readonly facts: Readonly<Record<string, Json>> } };
	const names = ['conditional_relations', 'conditional_roles', 'public_roles', 'relations', 'user_roles'];
	return Object.fromEntries(names.map((name) => [name, regolith.facts[name] ?? null]));
}

const anyFates = fc.array(fc.constantFrom(...fates), { minLength: 60, maxLength: 60 });

test('patches restore an earlier state', (t) => {
	let conditional = 0;
	fc.assert(
		fc.property(modelsOfOneSchema(1), anyFates, anyFates, (models, ofAssignments, ofRelationships) => {
			for (const model of models) {
				const past: PastFact[] = [];
				const rows = (table: readonly Row[], drawn: readonly Fate[]) => {
					const all = distinct(table).map((row, index) => ({ row, fate: drawn[index % drawn.length] ?? 'kept' }));
					for (const { row, fate } of all) {
						if (fate === 'kept') continue;
						past.push(pastFact(row, fate !== 'added'));
						if (row.condition !== undefined) conditional += 1;
					}
					return {
						before: all.filter(({ fate }) => fate !== 'added').map(({ row }) => row),
						after: all.filter(({ fate }) => fate !== 'removed').map(({ row, fate }) => altered(row, fate)),
					};
				};
				const { users, tenants, instances } = model.facts;
				const exists = (type: string, key: string) =>
					instances.some(
						(row) => row.type === type && row.key === key && tenants.some((tenant) => tenant.key === row.tenant),
					);
				// The history contains no facts about missing users and instances.
				const assignments = rows(
					model.facts.instance_assignments.filter(
						({ user, type, instance }) => (user === everyone || users.includes(user)) && exists(type, instance),
					),
					ofAssignments,
				);
				const relationships = rows(
					model.facts.relationships.filter(
						(row) => exists(row.type, row.instance) && exists(row.subject_type, row.subject),
					),
					ofRelationships,
				);
				const at = (state: 'before' | 'after'): Model => ({
					...model,
					facts: {
						...model.facts,
						instance_assignments: assignments[state] as readonly InstanceAssignment[],
						relationships: relationships[state] as readonly Relationship[],
					},
				});
				const { touched, now } = pastNeighbourhood(FactsIndex.read(documentBytes(at('after'))), past);
				const restored = patched(document(at('after')), delta(touched, now));
				t.deepEqual(tables(restored), tables(document(at('before'))));
			}
		}),
		{ numRuns: draws(400) },
	);
	t.true(conditional >= leastDrawn(40), `${conditional} changed conditional facts`);
});
