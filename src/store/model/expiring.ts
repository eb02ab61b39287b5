import type { Expiring } from '../../../compiler/model.js';

/** Returns a row's expiry for the model, in milliseconds since 1970; an empty object if the row does not expire. */
export function expiring(expires_at: number | null): Expiring {
	return expires_at === null ? {} : { expires_at };
}
