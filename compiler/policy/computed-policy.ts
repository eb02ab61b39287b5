/** Rego for a computed role: an expression over other roles on the same instance. */
import type { RoleName } from '../cycle.js';
import { packagePart } from '../rego/path.js';
import { Fragment, lines, list, rego } from '../rego/rego.js';
import { type RoleExpression, type RoleFormula, type RoleOperand, roleFormula, roleWords } from '../role-expression.js';
import { metadata } from './metadata.js';

/**
 * Writes the function `held(user, object)` of a computed role, and a function for each `anyOf` in it. `writeHeld`
 * writes the condition that the Rego variable `user` holds a role on the instance `object`. The last line tests for
 * suspension, so the test runs only if the user holds the role.
 */
export function writeComputed(
	{ type, role }: RoleName,
	expression: RoleExpression,
	writeHeld: (role: string) => Fragment,
): readonly Fragment[] {
	const about = [metadata({ title: roleWords(expression) }), rego`# custom:`, rego`#   kind: computed_role`];
	const [held = rego``, ...helpers] = writeFormula(roleFormula(expression), {
		name: 'held',
		helper: 'any',
		parameters: ['user', 'object'],
		writeRole: ({ role: operand }) => writeHeld(operand),
		last: [rego`not data.regolith.pending.computed${packagePart(type)}${packagePart(role)}`],
	});
	return [lines([...about, held]), ...helpers];
}

/** A function for a formula. Names are Rego code. */
interface FormulaFunction {
	readonly name: string;
	/** Name prefix for additional functions. */
	readonly helper: string;
	readonly parameters: readonly string[];
	/** Writes the condition that a role is held, without `not`. */
	readonly writeRole: (operand: RoleOperand) => Fragment;
	/** Conditions after the formula. */
	readonly last?: readonly Fragment[];
}

/** Writes a function that is true if a formula is met, followed by a function for each `any` with several parts. */
export function writeFormula(
	formula: RoleFormula,
	{ name, helper, parameters, writeRole, last = [] }: FormulaFunction,
): readonly Fragment[] {
	const call = (of: string) => rego`${new Fragment(of)}(${list(parameters.map((one) => new Fragment(one)))})`;
	if (formula.kind === 'any' && formula.parts.length === 0) {
		return [rego`${new Fragment(name)}(${list(parameters.map(() => rego`_`))}) if false`];
	}
	const helpers: Fragment[][] = [];
	const conditions = (part: RoleFormula): readonly Fragment[] => {
		if (part.kind === 'role') return [part.negated ? rego`not ${writeRole(part)}` : writeRole(part)];
		if (part.kind === 'all' || part.parts.length === 1) return part.parts.flatMap(conditions);
		const bodies: Fragment[] = [];
		helpers.push(bodies);
		const head = call(`${helper}_${helpers.length}`);
		for (const alternative of part.parts) bodies.push(writeBody(head, conditions(alternative)));
		return [head];
	};
	return [writeBody(call(name), [...conditions(formula), ...last]), ...helpers.flat()];
}

function writeBody(head: Fragment, conditions: readonly Fragment[]): Fragment {
	const [only] = conditions;
	return conditions.length === 1 && only !== undefined
		? rego`${head} if ${only}`
		: lines([rego`${head} if {`, ...conditions.map((condition) => rego`	${condition}`), rego`}`]);
}
