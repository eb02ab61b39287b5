import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { createLogger } from '../../src/log.js';
import { PolicyTester } from '../../src/publish/policy-tester.js';
import { temporary } from '../support/temporary.js';

test('a full queue still accepts work for an environment without queued work', async (t) => {
	const opa = join(temporary(t), 'opa');
	writeFileSync(opa, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
	const tester = new PolicyTester(opa, createLogger('silent'), { listed: 10 });
	let policies = 0;
	const ask = async (environment: string) => {
		policies += 1;
		const outcome = tester.test(environment, [{ path: 'a.rego', text: `package p${policies}` }]).then(
			() => 'tested',
			({ code }: { readonly code: string }) => code,
		);
		// Wait for an event loop turn, so that an immediate rejection comes first.
		await nextTurn();
		return outcome;
	};
	const asked = [];
	for (const environment of ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'e', 'a']) {
		const outcome = ask(environment);
		asked.push(outcome);
		await nextTurn();
		await nextTurn();
	}
	await tester.stop();
	t.deepEqual(await Promise.all(asked), [...Array.from({ length: 10 }, () => 'unavailable'), 'busy', 'busy']);
});
