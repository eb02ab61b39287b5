import { jsonProblem } from '../json-problem.js';

/** A check's contextual facts as form rows. These facts are never stored (docs/develop/contextual-facts.md). */

/** The check user's role on an instance `<resource>:<key>`. */
export interface ContextualRole {
	readonly role: string;
	readonly resource_instance: string;
}

/** Relationship between two instances `<resource>:<key>`. */
export interface ContextualTuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

export interface ContextualRows {
	readonly role_assignments: readonly ContextualRole[];
	readonly relationship_tuples: readonly ContextualTuple[];
}

export const noContextualRows: ContextualRows = { role_assignments: [], relationship_tuples: [] };

/** Contextual facts in check format. */
export interface ContextualFactsBody {
	readonly role_assignments: (ContextualRole & { readonly user: string })[];
	readonly relationship_tuples: ContextualTuple[];
}

/** Formats the rows as text for the URL; empty without rows. */
export function writeContextualRows(rows: ContextualRows): string {
	return rows.role_assignments.length + rows.relationship_tuples.length === 0 ? '' : JSON.stringify(rows);
}

/** Parses rows from the URL. Returns `null` if the text has a different format. */
export function readContextualRows(text: string): ContextualRows | null {
	if (text === '') return noContextualRows;
	return jsonProblem(text) === null ? readRows(JSON.parse(text), '') : null;
}

/**
 * Returns rows for the contextual facts in a logged check by `user`. Leaves out other users' roles, which do not affect
 * the check.
 */
export function loggedContextualRows(facts: unknown, user: string): string {
	const rows = readRows(facts, user);
	return rows === null ? '' : writeContextualRows(rows);
}

/** Returns the reason why the rows cannot be sent; `null` if they can be sent. */
export function contextualProblem(text: string): string | null {
	const rows = readContextualRows(text);
	if (rows === null) return 'must be role assignments and relationships';
	const fields = [...rows.role_assignments, ...rows.relationship_tuples].flatMap((row) => Object.values(row));
	return fields.includes('') ? 'fill in all fields, or remove the row' : null;
}

/** Returns the contextual facts for a check by `user`; `undefined` without rows. */
export function contextualFactsBody(text: string, user: string): ContextualFactsBody | undefined {
	const rows = readContextualRows(text);
	if (rows === null || writeContextualRows(rows) === '') return undefined;
	const { role_assignments, relationship_tuples } = rows;
	return {
		role_assignments: role_assignments.map((row) => ({ user, ...row })),
		relationship_tuples: [...relationship_tuples],
	};
}

function readRows(value: unknown, user: string): ContextualRows | null {
	const { role_assignments = [], relationship_tuples = [], ...others } = asRecord(value) ?? { unknown: value };
	if (Object.keys(others).length > 0) return null;
	const own = Array.isArray(role_assignments)
		? role_assignments.filter((row) => user === '' || asRecord(row)?.['user'] === user)
		: role_assignments;
	const roles = readList(own, ({ role, resource_instance }) => texts({ role, resource_instance }));
	const tuples = readList(relationship_tuples, ({ subject, relation, object }) => texts({ subject, relation, object }));
	return roles === null || tuples === null ? null : { role_assignments: roles, relationship_tuples: tuples };
}

type Members = Readonly<Record<string, unknown>>;

function readList<Row>(value: unknown, read: (members: Members) => Row | null): readonly Row[] | null {
	if (value === null) return [];
	if (!Array.isArray(value)) return null;
	const rows = value.map((row) => read(asRecord(row) ?? {}));
	return rows.every((row) => row !== null) ? rows : null;
}

function texts<Name extends string>(members: Readonly<Record<Name, unknown>>): Readonly<Record<Name, string>> | null {
	return Object.values(members).every((member) => typeof member === 'string')
		? (members as Readonly<Record<Name, string>>)
		: null;
}

function asRecord(value: unknown): Members | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
}
