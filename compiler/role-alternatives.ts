import { type RoleExpression, type RoleFormula, roleFormula } from './role-expression.js';

/** A way to hold a computed role: roles that users must hold on the instance, and roles that users must not hold. */
export interface RoleAlternative {
	readonly required: readonly string[];
	readonly excluded: readonly string[];
}

/** Maximum number of alternatives per computed role. */
const maxAlternatives = 16;

/**
 * Returns the ways to hold a computed role, in terms of non-computed roles. Leaves out ways beyond a limit.
 * `expressionOf` returns a computed role's expression on the same resource; `undefined` for other roles.
 */
export function roleAlternatives(
	formula: RoleFormula,
	expressionOf: (role: string) => RoleExpression | undefined,
): readonly RoleAlternative[] {
	if (formula.kind === 'role') {
		const { role, negated } = formula;
		const expression = expressionOf(role);
		if (expression !== undefined) return roleAlternatives(roleFormula(expression, negated), expressionOf);
		return [negated ? { required: [], excluded: [role] } : { required: [role], excluded: [] }];
	}
	const parts = formula.parts.map((part) => roleAlternatives(part, expressionOf));
	if (formula.kind === 'any') return parts.flat().slice(0, maxAlternatives);
	return parts.reduce(
		(ways, part) =>
			ways.flatMap((one) => part.map((other) => together(one, other)).filter(isPossible)).slice(0, maxAlternatives),
		[{ required: [], excluded: [] }],
	);
}

function together(one: RoleAlternative, other: RoleAlternative): RoleAlternative {
	return {
		required: [...new Set([...one.required, ...other.required])],
		excluded: [...new Set([...one.excluded, ...other.excluded])],
	};
}

function isPossible({ required, excluded }: RoleAlternative): boolean {
	return !required.some((role) => excluded.includes(role));
}
