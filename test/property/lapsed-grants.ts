/**
 * Filter rows decided by an expired grant: the filter would gain or lose these rows if it did not ignore the grant.
 * Without such rows, a property would not notice a filter that uses expired grants.
 */

import { everyone } from '../../compiler/everyone.js';
import { documentBytes } from '../../compiler/index.js';
import type { Expiring, Facts, Model } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { Failure } from '../../src/failure.js';
import { compileResidual } from '../../src/filter/evaluate-residual.js';
import type { Row } from '../../src/filter/residual.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import type { FilterInput } from '../../src/pdp/decide/normalise.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { rowsGranted } from '../../src/pdp/filter/filter.js';
import { grantBranches } from '../../src/pdp/filter/grant-branches.js';
import { patternMatches } from '../support/conditions.js';

/** Fact kinds that expire. Each function makes its facts last forever. */
const kinds: Readonly<Record<string, (facts: Facts) => Facts>> = {
	'tenant roles': (facts) => ({ ...facts, role_assignments: facts.role_assignments.map(lasting) }),
	'roles on instances': (facts) => ({
		...facts,
		instance_assignments: facts.instance_assignments.map((row) => (row.user === everyone ? row : lasting(row))),
	}),
	'roles of everyone': (facts) => ({
		...facts,
		instance_assignments: facts.instance_assignments.map((row) => (row.user === everyone ? lasting(row) : row)),
	}),
	relationships: (facts) => ({ ...facts, relationships: facts.relationships.map(lasting) }),
};

/** Returns the granted rows; `undefined` if the condition of an expired grant is not supported in filters. */
function grantedUnlessRefused(context: DecisionContext, input: FilterInput) {
	try {
		return runToEnd(rowsGranted(context, input, patternMatches));
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}

function lasting<T extends Expiring>({ expires_at: _, ...row }: T): Omit<T, 'expires_at'> {
	return row;
}

/** Counts the decided rows by the expired fact's kind and the grant's model, such as `tenant roles, abac`. */
export class LapsedGrants {
	readonly counts = new Map<string, number>();
	#revived: readonly (readonly [kind: string, facts: FactsIndex])[] = [];

	/** Sets the model for the next filters. */
	use(model: Model): void {
		this.#revived = Object.entries(kinds).map(([kind, revive]) => {
			return [kind, FactsIndex.read(documentBytes({ ...model, facts: revive(model.facts) }))];
		});
	}

	/**
	 * Counts the rows that `selects` would gain, by access model, or lose, as `lost`, if the facts of a kind did not
	 * expire.
	 */
	count(context: DecisionContext, input: FilterInput, rows: readonly Row[], selects: (row: Row) => boolean): void {
		for (const [kind, facts] of this.#revived) {
			const revived = { ...context, facts };
			const granted = grantedUnlessRefused(revived, input);
			if (granted === undefined) continue;
			const branches = runToEnd(grantBranches(revived, input, granted)).map(({ model, condition }) => {
				return { model, holds: runToEnd(compileResidual(condition, patternMatches)) };
			});
			for (const row of rows) {
				const holding = branches.filter(({ holds }) => holds(row));
				const isSelected = selects(row);
				if (isSelected && holding.length === 0) this.#add(`${kind}, lost`);
				if (!isSelected) for (const { model } of holding) this.#add(`${kind}, ${model}`);
			}
		}
	}

	#add(name: string): void {
		this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
	}
}
