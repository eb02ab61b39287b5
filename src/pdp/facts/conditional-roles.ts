import type { Attributes, Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { jsonMember } from './json-members.js';

/** A role assigned to a user on an instance under a condition. */
export interface ConditionalRole {
	readonly instance: string;
	readonly role: string;
	/** Key of the condition. */
	readonly set: string;
	/** Values for the condition. */
	readonly values: Attributes;
	/** Expiry in milliseconds since 1970; `null` if the assignment does not expire. */
	readonly until: number | null;
}

/** Decides whether conditions of assignments hold in a check. */
export interface ConditionTest {
	/** True if only the engine can decide one of the conditions. */
	readonly uncertain: boolean;
	holds(grant: ConditionalRole): boolean;
}

/** Assignments of a user, keyed by their paths. */
type UserRoles = ReadonlyMap<string, ConditionalRole>;

/** Role assignments under conditions. There are few of them, so they are ordinary objects. */
export class ConditionalRoles {
	readonly #byUser = new Map<string, UserRoles>();
	/** Users with assignments on each instance. */
	readonly #users = new Map<string, Set<string>>();

	/** Makes this object a copy of `other`, which must not change while it is copied. */
	*copyingFrom(other: ConditionalRoles): Steps<void> {
		for (const [user, roles] of other.#byUser) {
			this.#set(user, roles);
			yield;
		}
	}

	/** True if there are no such assignments. */
	get isEmpty(): boolean {
		return this.#byUser.size === 0;
	}

	/** True if the user has such assignments, valid or expired. */
	has(user: string): boolean {
		return this.#byUser.has(user);
	}

	/** All users with such assignments. */
	get users(): Iterable<string> {
		return this.#byUser.keys();
	}

	/** Yields a user's assignments that are valid at `time`, in milliseconds since 1970. */
	*from(user: string, time: number): Iterable<ConditionalRole> {
		for (const role of this.#byUser.get(user)?.values() ?? []) {
			if (role.until === null || role.until > time) yield role;
		}
	}

	/** Yields the assignments on an instance that are valid at `time`, each with its user. */
	*to(instance: string, time: number): Iterable<readonly [user: string, role: ConditionalRole]> {
		for (const user of this.#users.get(instance) ?? []) {
			for (const role of this.from(user, time)) if (role.instance === instance) yield [user, role];
		}
	}

	/** Adds an assignment, at the path `[user, type, role, instance, condition]`. */
	add([user = '', ...path]: readonly string[], value: Json): void {
		const [, role = '', instance = '', set = ''] = path;
		const until = jsonMember(value, 'until');
		const values = jsonMember(value, 'values');
		const one = {
			instance,
			role,
			set,
			values: typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as Attributes) : {},
			until: typeof until === 'number' ? until : null,
		};
		this.#set(user, new Map(this.#byUser.get(user)).set(JSON.stringify(path), one));
	}

	/** Removes all assignments whose paths begin with a path. */
	clear([user, ...path]: readonly string[]): void {
		for (const one of user === undefined ? [...this.#byUser.keys()] : [user]) {
			const kept = [...(this.#byUser.get(one) ?? [])].filter(([name]) => !startsWith(JSON.parse(name), path));
			this.#set(one, new Map(kept));
		}
	}

	#set(user: string, roles: UserRoles): void {
		for (const { instance } of this.#byUser.get(user)?.values() ?? []) {
			const users = this.#users.get(instance);
			users?.delete(user);
			if (users?.size === 0) this.#users.delete(instance);
		}
		if (roles.size === 0) this.#byUser.delete(user);
		else this.#byUser.set(user, roles);
		for (const { instance } of roles.values()) {
			this.#users.set(instance, (this.#users.get(instance) ?? new Set()).add(user));
		}
	}
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
	return start.every((name, index) => path[index] === name);
}
