import type { Phrase } from '../phrase.js';

/** What grants an action (docs/drafts.md: Impact). */
export interface ImpactCause {
	readonly by: 'role_in_tenant' | 'role_on_instance' | 'set_rule';
	readonly role?: string | undefined;
	readonly userset?: string | undefined;
	readonly resourceset?: string | undefined;
	readonly resource_type?: string | undefined;
}

/** What becomes of the checks of one cause. */
export interface ImpactGroup<Row> {
	/** `null` for checks that nothing is known to grant. */
	readonly cause: ImpactCause | null;
	/** How many checks it gained or lost in all. */
	readonly count: number;
	/** Those of them that are listed. */
	readonly rows: readonly Row[];
}

interface CountedCause extends ImpactCause {
	readonly gained: number;
	readonly lost: number;
}

interface GrantedRow {
	readonly before: { readonly by: readonly ImpactCause[] };
	readonly after: { readonly by: readonly ImpactCause[] };
}

/** Rows by the first thing that grants them, the largest groups first. A gain is granted after, a loss was before. */
export function groupImpact<Row extends GrantedRow>(
	rows: readonly Row[],
	counts: readonly CountedCause[],
	side: 'gained' | 'lost',
): readonly ImpactGroup<Row>[] {
	const groups = new Map<string, { cause: ImpactCause | null; count: number; rows: Row[] }>();
	for (const counted of counts) {
		if (counted[side] > 0) groups.set(causeName(counted), { cause: counted, count: counted[side], rows: [] });
	}
	for (const row of rows) {
		const [cause = null] = side === 'gained' ? row.after.by : row.before.by;
		const name = causeName(cause);
		const group = groups.get(name) ?? { cause, count: 0, rows: [] };
		group.rows.push(row);
		// A cause that is not counted has at least what is listed.
		group.count = Math.max(group.count, group.rows.length);
		groups.set(name, group);
	}
	return [...groups.values()].sort((one, other) => other.count - one.count);
}

function causeName(cause: ImpactCause | null): string {
	if (cause === null) return '';
	const { by, role, userset, resourceset, resource_type } = cause;
	return JSON.stringify([by, role, userset, resourceset, resource_type]);
}

/** What grants an action, as a part of a sentence. */
export function causePhrases(cause: ImpactCause): readonly Phrase[] {
	const { by, role = '', userset, resourceset, resource_type = '' } = cause;
	if (by === 'role_in_tenant') return ['role ', { name: role }, ' in the tenant'];
	if (by === 'role_on_instance') return ['role ', { name: role.replace('#', ':') }, ' on an instance'];
	const who: readonly Phrase[] = userset === undefined ? ['who holds ', { name: role }] : [{ name: userset }];
	const what: readonly Phrase[] =
		resourceset === undefined ? ['every ', { name: resource_type }] : [{ name: resourceset }];
	return ['rule of ', ...who, ' on ', ...what];
}

/** A number of checks, which is a lower bound where some were left out. */
export function countText(count: number, isLowerBound: boolean): string {
	const text = count.toLocaleString('en');
	return isLowerBound ? `at least ${text}` : text;
}
