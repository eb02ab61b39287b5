import type { Attributes, Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { jsonMember } from './json-members.js';

/** A user's conditional assignment on an instance. */
export interface ConditionalRole {
	readonly instance: string;
	readonly role: string;
	/** Condition key. */
	readonly set: string;
	/** Condition values. */
	readonly values: Attributes;
	/** Expiry in milliseconds since 1970; `null` if the assignment does not expire. */
	readonly until: number | null;
}

/** Decides whether assignment conditions hold in a check. */
export interface ConditionTest {
	/** True if only the engine can decide some condition. */
	readonly uncertain: boolean;
	holds(grant: ConditionalRole): boolean;
}

/** Conditional role assignments. */
export class ConditionalRoles {
	/** Each user's assignments, keyed by path. */
	readonly #byUser = new Map<string, Map<string, ConditionalRole>>();
	/** Assignments on each instance, each with its user, keyed by path including the user. */
	readonly #byInstance = new Map<string, Map<string, readonly [user: string, role: ConditionalRole]>>();

	/** Copies `other` into this object. `other` must not change during the copy. */
	*copyingFrom(other: ConditionalRoles): Steps<void> {
		for (const [user, roles] of other.#byUser) {
			for (const [name, role] of roles) {
				this.#set(user, name, role);
				yield;
			}
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

	/** Yields an instance's assignments that are valid at `time`, each with its user. */
	*to(instance: string, time: number): Iterable<readonly [user: string, role: ConditionalRole]> {
		for (const entry of this.#byInstance.get(instance)?.values() ?? []) {
			const [, { until }] = entry;
			if (until === null || until > time) yield entry;
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
		this.#set(user, JSON.stringify(path), one);
	}

	/** Removes all assignments whose paths begin with a path. */
	clear([user, ...path]: readonly string[]): void {
		const name = JSON.stringify(path);
		for (const one of user === undefined ? [...this.#byUser.keys()] : [user]) {
			const roles = this.#byUser.get(one);
			const names = roles?.has(name) ? [name] : [...(roles?.keys() ?? [])];
			for (const found of names) if (startsWith(JSON.parse(found), path)) this.#delete(one, found);
		}
	}

	#set(user: string, name: string, role: ConditionalRole): void {
		const roles = this.#byUser.get(user) ?? new Map<string, ConditionalRole>();
		this.#byUser.set(user, roles.set(name, role));
		const users = this.#byInstance.get(role.instance) ?? new Map<string, readonly [string, ConditionalRole]>();
		this.#byInstance.set(role.instance, users.set(JSON.stringify([user, name]), [user, role]));
	}

	#delete(user: string, name: string): void {
		const roles = this.#byUser.get(user);
		const instance = roles?.get(name)?.instance ?? '';
		roles?.delete(name);
		if (roles?.size === 0) this.#byUser.delete(user);
		const users = this.#byInstance.get(instance);
		users?.delete(JSON.stringify([user, name]));
		if (users?.size === 0) this.#byInstance.delete(instance);
	}
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
	return start.every((name, index) => path[index] === name);
}
