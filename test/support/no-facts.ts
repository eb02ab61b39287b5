import type { Facts } from '../../compiler/model.js';

/** Facts in an empty environment. */
export const noFacts: Facts = {
	users: [],
	tenants: [],
	role_assignments: [],
	instances: [],
	instance_assignments: [],
	relationships: [],
	user_attributes: [],
	instance_attributes: [],
};
