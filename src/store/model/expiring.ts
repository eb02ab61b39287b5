import type { Expiring } from '../../../compiler/model.js';

/** What the model says of a row's expiry, in milliseconds since 1970: nothing of a row that has none. */
export function expiring(expires_at: number | null): Expiring {
	return expires_at === null ? {} : { expires_at };
}
