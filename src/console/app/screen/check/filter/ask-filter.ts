import type { Residual } from '../../../../../filter/residual.js';
import type { CheckBody } from '../../../../model/check/check-form.js';
import { answered, decisions } from '../../../api.js';

/** Filter for the instances of a resource, with its origin. */
export interface FilterAnswer {
	readonly query: CheckBody;
	/** Selected instances; `true` for all and `false` for none. */
	readonly rows: Residual | boolean;
	readonly revision: number;
	/** Time after which the filter may be wrong, in ISO 8601; `null` if nothing expires. */
	readonly validUntil: string | null;
	/** Denial code, if no instance is selected. */
	readonly code: string | undefined;
	readonly branches: readonly FilterBranch[];
}

/** Instances selected by a grant. */
export interface FilterBranch {
	readonly reason: string;
	readonly sources: readonly FilterSource[];
	/** Sets of a rule, by kind. */
	readonly rule: Readonly<Record<string, string>>;
	readonly rows: Residual;
}

/** Source of a role on instances. Roles have the form `<type>#<role>`. */
export interface FilterSource {
	readonly type: string;
	/** Present for a role assigned to everyone. */
	readonly user?: string | undefined;
	readonly role?: string | undefined;
	readonly relation?: string | undefined;
}

/** Requests a filter from the decision point. Throws `ApiFailure`. */
export async function askFilter(query: CheckBody, signal: AbortSignal): Promise<FilterAnswer> {
	const { type, condition, revision, valid_until, debug } = await answered(
		decisions().POST('/filter', { body: query, params: { header: { 'X-Debug': 'true' } }, signal }),
	);
	return {
		query,
		// The decision point's conditions have the shape of `Residual`.
		rows: type === 'conditional' ? (condition as Residual) : type === 'always_allow',
		revision,
		validUntil: valid_until,
		code: debug?.code,
		branches: (debug?.branches ?? []).map(({ reason, sources = [], allowing_rule = {}, condition: rows }) => {
			return { reason, sources, rule: allowing_rule, rows: rows as Residual };
		}),
	};
}
