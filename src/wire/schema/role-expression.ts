import { z } from 'zod';
import type { RoleExpression } from '../../../compiler/role-expression.js';
import { Key } from '../common.js';

/** Maximum number of role keys in an expression. */
export const maxOperands = 20;

/** Maximum depth of an expression. */
const maxDepth = 5;

const form = 'must be the key of a role, or an object with one of the fields `allOf`, `anyOf` and `not`';

/** Expression of a computed role. The handler checks that its roles exist. */
export const ComputedRole = z
	.custom<Exclude<RoleExpression, string>>()
	.superRefine((value, ctx) => {
		if (typeof value === 'string') {
			ctx.addIssue({ code: 'custom', message: 'must be an object with one of the fields `allOf`, `anyOf` and `not`' });
			return;
		}
		const operands = checkPart(value, [], ctx);
		if (operands > maxOperands) {
			ctx.addIssue({ code: 'custom', message: `must have at most ${maxOperands} role keys, not ${operands}` });
		}
	})
	.meta({
		type: 'object',
		additionalProperties: true,
		description:
			'Roles on the same instance that a user must hold: `allOf` and `anyOf` are arrays of parts, and `not` is a part. A ' +
			'part is the key of a role, or such an object.',
	});

/** Reports the problems of a part. Returns the number of role keys in it. */
function checkPart(value: unknown, path: readonly (string | number)[], ctx: z.RefinementCtx): number {
	const refuse = (message: string, ...below: readonly string[]) => {
		ctx.addIssue({ code: 'custom', message, path: [...path, ...below] });
		return 0;
	};
	if (typeof value === 'string') {
		const [issue] = Key.safeParse(value).error?.issues ?? [];
		return issue === undefined ? 1 : refuse(issue.message);
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(form);
	const [entry, ...others] = Object.entries(value as Readonly<Record<string, unknown>>);
	if (entry === undefined || others.length > 0) return refuse(form);
	const [name, inner] = entry;
	// Each operator takes two steps of the path if its value is an array.
	if (path.length >= 2 * maxDepth) return refuse(`must not be nested more than ${maxDepth} deep`);
	if (name === 'not') return checkPart(inner, [...path, name], ctx);
	if (name !== 'allOf' && name !== 'anyOf')
		return refuse(`unknown field: the fields are \`allOf\`, \`anyOf\` and \`not\``, name);
	if (!Array.isArray(inner) || inner.length === 0) return refuse('must be an array with at least one part', name);
	if (inner.length > maxOperands) return refuse(`must have at most ${maxOperands} parts`, name);
	return inner.reduce((sum: number, part, index) => sum + checkPart(part, [...path, name, index], ctx), 0);
}
