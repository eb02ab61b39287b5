import test from 'ava';
import { z } from 'zod';
import { endpoints } from '../../src/api/table.js';

/** Responses with secrets are not cached. */

const names = /"(secret|client_secret|token|element_bearer_token)":\{/;

test('every endpoint that returns a secret declares it', (t) => {
	for (const { name, returns, secret = false } of endpoints) {
		const schemas = Object.values(returns).filter((schema) => schema !== null);
		const texts = schemas.map((schema) =>
			JSON.stringify(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })),
		);
		if (texts.some((text) => names.test(text))) t.true(secret, name);
	}
	t.true(endpoints.some(({ secret }) => secret));
});
