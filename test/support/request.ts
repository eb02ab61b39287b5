import fc from 'fast-check';
import { anyCodePoint } from './any-code-point.js';
import { bodies, hugeNumber, sentAs, wrongQueries } from './bodies.js';
import type { Answer, Client } from './client.js';
import { keyedEndpoints as endpoints, furnished, type Visited } from './tour.js';

/** Random requests to any endpoint, with any path, query and body. */

/** Sends a body as JSON and replaces `hugeNumber` with the number. */
export function send(http: Client, endpoint: Visited, path: string, body?: unknown): Promise<Answer<unknown>> {
	if (body === undefined) return http.send(endpoint.method.toUpperCase(), path);
	const raw = JSON.stringify(body).replaceAll(`"${hugeNumber}"`, '1e999');
	return http.send(endpoint.method.toUpperCase(), path, undefined, { raw });
}

/** Strings that attackers might send, or that could be sent by accident. */
const text = fc.oneof(
	fc.string({ unit: anyCodePoint }),
	fc.constantFrom(
		'',
		'default',
		'editor',
		'acme',
		'document',
		'read',
		'alice@example.com',
		'__proto__',
		'constructor',
		'__user',
		'\0',
		'\ud800',
		'%',
		'*',
		'{',
		'"',
		'\\',
		'NULL',
		"';--",
		'00000000-0000-4000-8000-000000000000',
	),
);
const json = fc.oneof(
	fc.jsonValue({ stringUnit: anyCodePoint, maxDepth: 4 }),
	text,
	fc.constant(hugeNumber),
	fc.double(),
	fc.bigInt().map(Number),
);

/** Returns an almost valid body, so the request passes the first checks. */
function nearly(endpoint: Visited): fc.Arbitrary<unknown> {
	const body = bodies[endpoint.name];
	if (body === undefined) return fc.constant(undefined);
	const fields = Object.fromEntries(Object.keys(body.fields).map((field) => [field, json]));
	const item = fc.record(fields, { requiredKeys: [] }).map((changed) => ({ ...body.base, ...changed }));
	return fc.oneof(
		{ weight: 4, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => sentAs(body, items)) },
		{ weight: 1, arbitrary: json },
	);
}

/** Excludes the endpoints that would delete the place for other requests. */
const fuzzed = endpoints.filter(({ name }) => !['deleteProject', 'deleteEnvironment'].includes(name));

/** Any request. `params` replaces path parameters with wrong values. */
export const request = fc.constantFrom(...fuzzed).chain((endpoint) =>
	fc.record({
		endpoint: fc.constant(endpoint),
		params: fc.dictionary(
			fc.constantFrom('proj_id', 'env_id', 'api_key_id', 'pdp_id', 'org_id', ...Object.keys(furnished)),
			text,
			{ maxKeys: 1 },
		),
		query: fc.dictionary(
			fc.oneof(fc.constantFrom(...Object.keys(wrongQueries)), text),
			fc.oneof(text, fc.constantFrom('1', 'true')),
			{ maxKeys: 3 },
		),
		body: nearly(endpoint),
	}),
);

/** Percent-encodes any text. Replaces lone surrogates, which URLs cannot contain. */
export function encode(value: string): string {
	return encodeURIComponent(Buffer.from(value).toString()).replaceAll('.', '%2E');
}
