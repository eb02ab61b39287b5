import { NameText } from '../../../part/name-text.js';

interface UserNameTextProps {
	readonly user: { readonly first_name: string | null; readonly last_name: string | null };
}

/** A user's first and last name; empty if the user has no name. */
export function UserNameText({ user: { first_name, last_name } }: UserNameTextProps) {
	const name = [first_name, last_name].filter(Boolean).join(' ');
	return name === '' ? null : <NameText text={name} />;
}
