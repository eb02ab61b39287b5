import { announce } from '../part/announce.js';
import { answered, management } from './api.js';
import { confirmWrite } from './part/confirm.js';

/**
 * Asks for confirmation, rotates an API key and returns the new secret. Returns `null` if the user does not confirm.
 * Throws `ApiFailure`.
 */
export async function rotateKey(id: string, text: string): Promise<string | null> {
	if (!(await confirmWrite('Rotate key', text, { always: true }))) return null;
	const path = { api_key_id: id };
	const { secret } = await answered(management.POST('/v2/api-key/{api_key_id}/rotate-secret', { params: { path } }));
	announce('Key rotated.');
	return secret;
}
