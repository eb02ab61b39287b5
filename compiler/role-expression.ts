/** Computed roles: boolean expressions over other roles on the same resource. */

/** An expression as written. A string is a role key on the same resource. */
export type RoleExpression =
	| string
	| { readonly allOf: readonly RoleExpression[] }
	| { readonly anyOf: readonly RoleExpression[] }
	| { readonly not: RoleExpression };

/** An expression in which `not` applies only to single roles. */
export type RoleFormula = RoleOperand | { readonly kind: 'all' | 'any'; readonly parts: readonly RoleFormula[] };

export interface RoleOperand {
	readonly kind: 'role';
	readonly role: string;
	/** True under an odd number of `not`. */
	readonly negated: boolean;
	/** Its location in the expression. */
	readonly at: readonly (string | number)[];
}

/** The expression of a computed role that nobody holds. */
export const nobodyHolds: RoleExpression = { anyOf: [] };

/** Moves each `not` inward: a negated `allOf` is an `anyOf` over negated parts, and vice versa. */
export function roleFormula(
	expression: RoleExpression,
	negated = false,
	at: readonly (string | number)[] = [],
): RoleFormula {
	if (typeof expression === 'string') return { kind: 'role', role: expression, negated, at };
	if ('not' in expression) return roleFormula(expression.not, !negated, [...at, 'not']);
	const [name, parts] =
		'allOf' in expression ? (['allOf', expression.allOf] as const) : (['anyOf', expression.anyOf] as const);
	return {
		kind: (name === 'allOf') === negated ? 'any' : 'all',
		parts: parts.map((part, index) => roleFormula(part, negated, [...at, name, index])),
	};
}

/** Returns all roles in an expression, in order. A role may occur several times. */
export function roleOperands(expression: RoleExpression): readonly RoleOperand[] {
	return operandsIn(roleFormula(expression));
}

/** Returns the keys of the roles in an expression, each once. A role without an expression has none. */
export function operandKeys(expression: RoleExpression | null | undefined): readonly string[] {
	return expression ? [...new Set(roleOperands(expression).map(({ role }) => role))] : [];
}

/** Returns all roles in a formula, in order. */
export function operandsIn(formula: RoleFormula): readonly RoleOperand[] {
	return formula.kind === 'role' ? [formula] : formula.parts.flatMap(operandsIn);
}

/**
 * True if each alternative requires a role outside `not`. Otherwise users without any role on the instance would hold
 * the computed role.
 */
export function requiresRole(formula: RoleFormula): boolean {
	if (formula.kind === 'role') return !formula.negated;
	return formula.kind === 'all' ? formula.parts.some(requiresRole) : formula.parts.every(requiresRole);
}

/** Returns a formula that is also true for users who hold negated roles. */
export function withoutExclusions(formula: RoleFormula): RoleFormula {
	if (formula.kind === 'role') return formula.negated ? { kind: 'all', parts: [] } : formula;
	return { ...formula, parts: formula.parts.map(withoutExclusions) };
}

/** True if a user with these roles holds the computed role. `holds` tests for a role. */
export function holdsFormula(formula: RoleFormula, holds: (role: string) => boolean): boolean {
	if (formula.kind === 'role') return holds(formula.role) !== formula.negated;
	const isHeld = (part: RoleFormula) => holdsFormula(part, holds);
	return formula.kind === 'all' ? formula.parts.every(isHeld) : formula.parts.some(isHeld);
}

/** Writes an expression in words, with keys in backquotes. */
export function roleWords(expression: RoleExpression): string {
	if (typeof expression === 'string') return `\`${expression}\``;
	if ('not' in expression) return `not ${inParentheses(expression.not)}`;
	const [parts, word] = 'allOf' in expression ? [expression.allOf, ' and '] : [expression.anyOf, ' or '];
	if (parts.length === 0) return 'nobody';
	return parts.map(inParentheses).join(word);
}

function inParentheses(expression: RoleExpression): string {
	const several =
		typeof expression !== 'string' &&
		(('allOf' in expression && expression.allOf.length > 1) || ('anyOf' in expression && expression.anyOf.length > 1));
	return several ? `(${roleWords(expression)})` : roleWords(expression);
}
