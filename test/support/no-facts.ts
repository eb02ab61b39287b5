import type { Facts } from '../../compiler/model.js';

/** The facts of an environment in which there is nothing. */
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
