/**
 * Sets of users: all users who hold a role on an instance, written `<type>:<key>#<role>`. A role that is granted to a set
 * is derived from the role of the set, by a relation that users neither see nor create. The key of this relation
 * contains `#`, which no other key contains.
 */

const mark = '#';

/** A role on instances of a resource type. */
export interface SetRole {
	readonly type: string;
	readonly role: string;
}

/** A set of users. */
export interface UserSet extends SetRole {
	/** Instance, as `<type>:<key>`. */
	readonly instance: string;
}

const setForm = /^([^:#]+):[^:#]+#[^:#]+$/;

/** Splits a set of users into its parts. Returns `null` if the text has a different form. */
export function userSetParts(text: string): UserSet | null {
	const type = setForm.exec(text)?.[1];
	if (type === undefined) return null;
	const end = text.indexOf(mark);
	return { type, instance: text.slice(0, end), role: text.slice(end + 1) };
}

/** True if a role assignment with this user key is a grant to a set of users. */
export function isUserSet(user: string): boolean {
	return user.includes(mark);
}

/** Returns the key of the relation by which a role is granted to the holders of `source`. */
export function setRelationKey(role: string, source: SetRole): string {
	return `${role}:${source.type}${mark}${source.role}`;
}

/** True if a relation grants a role to sets of users. */
export function isSetRelation(relation: string): boolean {
	return relation.includes(mark);
}

/** Returns the granted role, and the set of users on the subject of the relationship. */
export function grantOf(subject: string, relation: string): { readonly user: string; readonly role: string } {
	return {
		user: subject + relation.slice(relation.indexOf(mark)),
		role: relation.slice(0, relation.indexOf(':')),
	};
}
