import { z } from 'zod';
import { Reference } from '../common.js';
import { named } from '../named.js';
import { granting } from './granting.js';

/** A role whose holders on an instance are a set of users: `<resource key>:<instance key>#<role key>`. */
export const GrantableTo = granting({
	role: Reference.describe('Role held by the users in a set: id or key.'),
	on_resource: Reference.describe("The role's resource: id or key."),
}).meta({
	id: 'GrantableTo',
	description: 'A role whose holders on an instance are a set of users, `<resource key>:<instance key>#<role key>`.',
});
export type GrantableTo = z.output<typeof GrantableTo>;

export const GrantableToRead = named(
	'GrantableToRead',
	'A role whose holders on an instance are a set of users, both by keys.',
	{
		role: z.string().describe('Role key.'),
		on_resource: z.string().describe("Key of the role's resource."),
	},
);
export type GrantableToRead = z.input<typeof GrantableToRead>;
