// @rest

import test from 'ava';
import { deploy, reached, seedSchema } from '../support/deployment.js';
import { facts } from '../support/stack.js';

/** Processes that a fault in the runtime has killed, and that are then restarted, as by a service manager. */

/** Signals for faults in the runtime: unreachable code, and an invalid memory access. */
const faults = ['SIGILL', 'SIGSEGV'] as const;

test('a killed decision point exits with the signal, and does not allow revoked access after a restart', async (t) => {
	const deployment = await deploy('server', 'apart', { PDP_ENABLE_OFFLINE_MODE: 'true' });
	t.teardown(deployment.remove);
	await seedSchema(deployment);
	const { api, pdp, services } = deployment;
	const point = services.at(-1);
	for (const signal of faults) {
		const user = `user-${signal}`;
		const assignment = { user, role: 'viewer', tenant: 'default' };
		await api.post(`${facts}/users`, { key: user });
		const given = await api.post(`${facts}/role_assignments`, assignment);
		await reached(pdp, given.revision);
		const ask = () => pdp.post('/allowed', { user, action: 'read', resource: 'document' });
		t.is((await ask()).body['allow'], true);

		t.deepEqual(await point?.kill(signal), { code: null, signal });
		const taken = await api.delete(`${facts}/role_assignments`, assignment);
		t.is(taken.status, 204);
		await point?.start();
		await reached(pdp, taken.revision);
		t.like(await ask(), { status: 200, body: { allow: false } });
		const alice = { user: 'alice', action: 'read', resource: 'document' };
		t.like(await pdp.post('/allowed', alice), { status: 200, body: { allow: true } });
	}
});

test('a killed process with API and decision point keeps every acknowledged write', async (t) => {
	const deployment = await deploy('embedded', 'together');
	t.teardown(deployment.remove);
	await seedSchema(deployment);
	const { api, pdp, services } = deployment;
	for (const signal of faults) {
		const user = `user-${signal}`;
		const role_assignments = [{ role: 'viewer', tenant: 'default' }];
		const given = await api.post(`${facts}/users`, { key: user, role_assignments });
		t.is(given.status, 200);

		t.deepEqual(await services[0]?.kill(signal), { code: null, signal });
		await services[0]?.start();
		await reached(pdp, given.revision);
		const answer = await pdp.post('/allowed', { user, action: 'read', resource: 'document' });
		t.like(answer, { status: 200, body: { allow: true } });
	}
});
