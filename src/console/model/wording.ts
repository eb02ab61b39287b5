import type { ListedRequest, ListedUser } from './api-types.js';
import { visibleText } from './visible-text.js';

type Named = Pick<ListedUser, 'key' | 'email' | 'first_name' | 'last_name'>;

/**
 * Returns a user's display name: the name, or else the e-mail address, or else the key. Escapes invisible characters.
 */
export function userName({ key, email, first_name, last_name }: Named): string {
	return visibleText([first_name, last_name].filter(Boolean).join(' ') || email || key);
}

/** Returns the requester's display name. */
export function requesterName(request: ListedRequest): string {
	return userName({
		key: request.requesting_user_key,
		email: request.requesting_user_email,
		first_name: request.requesting_user_first_name,
		last_name: request.requesting_user_last_name,
	});
}

/** Returns a request's subject, such as `Editor on document:plan` or `operation on account:main`. */
export function requestSubject({ role_name, resource_key, resource_instance_key }: ListedRequest): string {
	const instance = resource_instance_key === null ? resource_key : `${resource_key}:${resource_instance_key}`;
	const what = role_name ?? 'operation';
	return visibleText(instance === null ? what : `${what} on ${instance}`);
}
