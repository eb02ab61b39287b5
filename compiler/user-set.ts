/**
 * A set of users: all users with a role on an instance, written `<type>:<key>#<role>`. A role assigned to a set is
 * derived from the set's role, by a relation that users neither see nor create. Only the keys of such relations contain
 * `#`.
 */

const mark = '#';

/** A role on a resource type's instances. */
export interface SetRole {
	readonly type: string;
	readonly role: string;
}

export interface UserSet extends SetRole {
	/** Instance, as `<type>:<key>`. */
	readonly instance: string;
}

const setForm = /^([^:#]+):[^:#]+#[^:#]+$/;

/** Splits a set into its parts. Returns `null` if the text has a different form. */
export function userSetParts(text: string): UserSet | null {
	const type = setForm.exec(text)?.[1];
	if (type === undefined) return null;
	const end = text.indexOf(mark);
	return { type, instance: text.slice(0, end), role: text.slice(end + 1) };
}

/** True if a role assignment with this user key assigns the role to a set. */
export function isUserSet(user: string): boolean {
	return user.includes(mark);
}

/** Returns the key of the hidden relation by which a role is assigned to the holders of `source`. */
export function setRelationKey(role: string, source: SetRole): string {
	return `${role}:${source.type}${mark}${source.role}`;
}

/** True if a relation assigns a role to sets. */
export function isSetRelation(relation: string): boolean {
	return relation.includes(mark);
}

/** Returns the granted role, and the set on the relationship's subject. */
export function grantOf(subject: string, relation: string): { readonly user: string; readonly role: string } {
	return {
		user: subject + relation.slice(relation.indexOf(mark)),
		role: relation.slice(0, relation.indexOf(':')),
	};
}
