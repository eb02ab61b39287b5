import type { Steps } from '../../../compiler/steps.js';
import type { Residual } from '../../filter/residual.js';
import { sortedTexts } from '../engine/chunks.js';

/** Returns a residual that selects the rows of the tenants. */
export function tenantsIn(tenants: readonly string[]): Steps<Residual> {
	return columnIn('tenant', tenants);
}

/** Returns a residual that selects the rows with the keys. */
export function keysIn(keys: readonly string[]): Steps<Residual> {
	return columnIn('key', keys);
}

function* columnIn(kind: 'tenant' | 'key', values: readonly string[]): Steps<Residual> {
	const operand = { value: yield* sortedTexts(values) };
	return { kind: 'comparison', column: { kind }, operator: 'in', operand, name: 'roles' };
}
