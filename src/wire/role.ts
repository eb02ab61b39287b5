import { z } from 'zod';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	deferred,
	environmentObject,
	Key,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
} from './common.js';
import { Flag, pageShape, Search, withAttributeFilters } from './query.js';

/** `<resource>:<action>`, or the id of an action; what it names is for the handler to find out. */
export const Permission = Reference.meta({
	description: '`<resource key>:<action key>`, or the id of an action.',
	example: 'document:read',
});

const derivation = deferred('role derivations (`granted_to`)');

/** A new tenant role. */
export const RoleCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		permissions: defaulted(z.array(Permission), () => []),
		attributes: optional(Attributes),
		extends: defaulted(z.array(Reference), () => []),
		granted_to: derivation,
	})
	.meta({ id: 'RoleCreate' });
export type RoleCreate = z.output<typeof RoleCreate>;

/** What may change of a role; `permissions`, `extends` and `attributes` are overwritten as a whole. */
export const RoleUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		permissions: optional(z.array(Permission)),
		attributes: clearable(Attributes),
		extends: optional(z.array(Reference)),
		granted_to: derivation,
	})
	.meta({ id: 'RoleUpdate' });
export type RoleUpdate = z.output<typeof RoleUpdate>;

/** Permissions to give to a role or to take from it. */
export const RolePermissions = z.object({ permissions: z.array(Permission) }).meta({ id: 'RolePermissions' });
export type RolePermissions = z.output<typeof RolePermissions>;

/** Which roles a list asks for. */
export const RoleQuery = withAttributeFilters({ include_total_count: Flag, search: Search, ...pageShape });
export type RoleQuery = z.output<typeof RoleQuery>;

/** A tenant role; `permissions` are its own, `extends` the keys of the roles whose permissions it has as well. */
export const RoleRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		description: z.string().nullable(),
		permissions: z.array(z.string()),
		extends: z.array(z.string()),
		attributes: StoredObject.nullable(),
		granted_to: AlwaysNull,
		v1compat_settings: AlwaysNull,
		v1compat_attributes: AlwaysNull,
	})
	.meta({ id: 'RoleRead' });
export type RoleRead = z.input<typeof RoleRead>;
