import { z } from 'zod';
import { Reference } from '../common.js';
import { named } from '../named.js';
import { granting } from './granting.js';

/** A role that defines sets of users: its holders on an instance are the set `<resource key>:<instance key>#<role key>`. */
export const GrantableTo = granting({
	role: Reference.describe('Role held by the users in a set: id or key.'),
	on_resource: Reference.describe("The role's resource: id or key."),
}).meta({
	id: 'GrantableTo',
	description:
		'A role that defines sets of users: its holders on an instance are the set `<resource key>:<instance key>#<role key>`.',
});
export type GrantableTo = z.output<typeof GrantableTo>;

export const GrantableToRead = named(
	'GrantableToRead',
	'A role that defines sets of users, identified by role key and resource key.',
	{
		role: z.string().describe('Role key.'),
		on_resource: z.string().describe("Key of the role's resource."),
	},
);
export type GrantableToRead = z.input<typeof GrantableToRead>;
