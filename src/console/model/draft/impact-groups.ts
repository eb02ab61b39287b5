import type { Phrase } from '../phrase.js';

/** A cause that grants an action (docs/policy/impact.md). */
export interface ImpactCause {
	readonly by: 'role_in_tenant' | 'role_on_instance' | 'set_rule';
	readonly role?: string | undefined;
	readonly userset?: string | undefined;
	readonly resourceset?: string | undefined;
	readonly resource_type?: string | undefined;
}

/** Numbers of checks that a draft changes. */
export interface ImpactCounts {
	readonly lost: number;
	readonly gained: number;
	/** Number of compared checks. */
	readonly asked: number;
}

/** Impact rows with the same cause. */
export interface ImpactGroup<Row> {
	/** Cause of these rows; `null` if it is unknown. */
	readonly cause: ImpactCause | null;
	/** Total number of gained or lost checks with this cause. */
	readonly count: number;
	/** Listed rows. */
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

/**
 * Groups rows by their first cause, largest group first. For a gain, uses the cause after the change. For a loss, uses
 * the cause before the change.
 */
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
		// A cause without a count has at least as many checks as listed rows.
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

/** Formats a cause for use in a sentence. */
export function causePhrases(cause: ImpactCause): readonly Phrase[] {
	const { by, role = '', userset, resourceset, resource_type = '' } = cause;
	if (by === 'role_in_tenant') return ['role ', { name: role }, ' in the tenant'];
	if (by === 'role_on_instance') return ['role ', { name: role.replace('#', ':') }, ' on an instance'];
	const who: readonly Phrase[] = userset === undefined ? ['users with ', { name: role }] : [{ name: userset }];
	const what: readonly Phrase[] =
		resourceset === undefined ? ['every ', { name: resource_type }] : [{ name: resourceset }];
	return ['rule for ', ...who, ' on ', ...what];
}

/** Formats a check count, which may be a lower bound. */
export function countText(count: number, isLowerBound: boolean): string {
	const text = count.toLocaleString('en');
	return isLowerBound ? `at least ${text}` : text;
}

/** Formats the checks that a draft changes, such as `520 checks lost, 3 gained`. Empty if no check changes. */
export function changedChecksText({ lost, gained }: Omit<ImpactCounts, 'asked'>, isLowerBound: boolean): string {
	const counted = [
		{ count: lost, word: 'lost' },
		{ count: gained, word: 'gained' },
	].filter(({ count }) => count > 0);
	return counted
		.map(({ count, word }, index) => {
			const unit = index > 0 ? '' : count === 1 ? ' check' : ' checks';
			return `${countText(count, isLowerBound)}${unit} ${word}`;
		})
		.join(', ');
}
