import { announce } from '../part/announce.js';
import { management } from './api.js';
import { confirmByKey, confirmWrite } from './part/confirm.js';
import { openSession } from './session.js';

/** Scope of an API key. */
export interface KeyScope {
	readonly object_type: 'org' | 'project' | 'env';
	/** Project of a project key or an environment key. */
	readonly project: { readonly key: string } | null;
}

/**
 * Asks the user to confirm a change to an API key with this scope. For a project key or an organization key, the user
 * types the project or organization key. Returns the request headers with the confirmation; `null` if the user
 * does not confirm.
 */
export async function confirmKey(
	title: string,
	text: string,
	{ object_type, project }: KeyScope,
	options: { readonly always?: boolean } = {},
) {
	if (object_type === 'env') return (await confirmWrite(title, text, options)) ? {} : null;
	const { organization } = openSession();
	return confirmByKey(title, text, object_type === 'org' || project === null ? organization.key : project.key);
}

/**
 * Asks for confirmation, rotates an API key and returns the new secret. Returns `null` if the user does not confirm.
 * Throws `ApiFailure`.
 */
export async function rotateKey(key: KeyScope & { readonly id: string }, text: string): Promise<string | null> {
	const header = await confirmKey('Rotate key', text, key, { always: true });
	if (header === null) return null;
	const path = { api_key_id: key.id };
	const { secret } = await management.post('/v2/api-key/{api_key_id}/rotate-secret', { path, header });
	announce('Key rotated.');
	return secret;
}
