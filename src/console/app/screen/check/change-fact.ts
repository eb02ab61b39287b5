import { type AttemptFact, splitInstance } from '../../../model/check/attempt.js';
import { management } from '../../api.js';

/** Stores a fact. Throws `ApiFailure`. */
export async function addFact(fact: AttemptFact): Promise<void> {
	switch (fact.fact) {
		case 'tenant': {
			const body = { key: fact.tenant, name: fact.tenant };
			await management.post('/v2/facts/{proj_id}/{env_id}/tenants', { body });
			return;
		}
		case 'user':
			await management.post('/v2/facts/{proj_id}/{env_id}/users', { body: { key: fact.user } });
			return;
		case 'resource_instance': {
			const { type: resource, key } = splitInstance(fact.resource_instance);
			const body = { key, resource, tenant: fact.tenant };
			await management.post('/v2/facts/{proj_id}/{env_id}/resource_instances', { body });
			return;
		}
		case 'role_assignment':
			await management.post('/v2/facts/{proj_id}/{env_id}/role_assignments', { body: assignmentBody(fact) });
			return;
		case 'relationship_tuple': {
			const { subject, relation, object, tenant } = fact;
			const body = { subject, relation, object, tenant };
			await management.post('/v2/facts/{proj_id}/{env_id}/relationship_tuples', { body });
		}
	}
}

/** Removes a role assignment. Only role assignments can block an attempt. Throws `ApiFailure`. */
export async function removeFact(fact: AttemptFact): Promise<void> {
	if (fact.fact !== 'role_assignment') throw new Error('only roles can block a check');
	await management.delete('/v2/facts/{proj_id}/{env_id}/role_assignments', { body: assignmentBody(fact) });
}

function assignmentBody({
	user,
	role,
	tenant,
	resource_instance,
}: Extract<AttemptFact, { readonly fact: 'role_assignment' }>) {
	return resource_instance === undefined ? { user, role, tenant } : { user, role, resource_instance, tenant };
}
