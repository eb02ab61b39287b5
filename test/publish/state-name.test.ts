import { randomBytes } from 'node:crypto';
import test from 'ava';
import { StateNames } from '../../src/publish/state-name.js';

/** State names prove that a server with the key created them. */

const environment = '0190c1b0-0000-7000-8000-000000000001';
const state = { lineage: '0'.repeat(16), revision: 7, token: 'ab', digest: '0'.repeat(32), pending: null };

test('during server key rotation, names from both keys are valid, and afterwards only names from the new key', (t) => {
	const [before, after] = [randomBytes(32), randomBytes(32)];
	const isVerified = (etag: string, keys: readonly [Buffer, ...Buffer[]]) =>
		new StateNames(keys).read(environment, etag)?.verified;
	const old = new StateNames([before]).name(environment, state);
	const renewed = new StateNames([after, before]).name(environment, state);
	t.is(renewed, new StateNames([after]).name(environment, state));
	for (const name of [old, renewed]) t.true(isVerified(name, [after, before]));
	t.false(isVerified(old, [after]));
	t.false(isVerified(renewed, [before]));
});
