import type { Residual } from '../../filter/residual.js';

/** Rows of these tenants. */
export function tenantsIn(tenants: readonly string[]): Residual {
	const operand = { value: tenants.toSorted() };
	return { kind: 'comparison', column: { kind: 'tenant' }, operator: 'in', operand, name: 'roles' };
}

/** Rows with these keys. */
export function keysIn(keys: readonly string[]): Residual {
	const operand = { value: keys.toSorted() };
	return { kind: 'comparison', column: { kind: 'key' }, operator: 'in', operand, name: 'roles' };
}
