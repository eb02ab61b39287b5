import { documentation } from '../../src/api/document.js';
import { endpoints } from '../../src/api/table.js';
import { type Endpoint, Raw } from '../../src/http/endpoint.js';
import { createLogger } from '../../src/log.js';
import { decisionPointDocumentation } from '../../src/pdp/documentation.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { feedEndpoints } from '../../src/publish/endpoints.js';

/** Both servers' OpenAPI documents, made from their endpoint tables without starting a server. */

/** Document part. */
export type Tree = { readonly [name: string]: unknown };

/** Returns the management API's OpenAPI document. */
export function apiDocument(): Promise<Tree> {
	return answeredDocument(apiReference());
}

/** Returns a decision point's OpenAPI document. */
export function decisionPointDocument(): Promise<Tree> {
	return answeredDocument(decisionPointReference());
}

/** Returns the management API's documentation endpoints. */
export function apiReference(): readonly Endpoint<string, never>[] {
	const table = [...endpoints, ...feedEndpoints(unused(), unused()).endpoints];
	return documentation(table, '1.2.3', () => 'http://127.0.0.1:7766');
}

/** Returns a decision point's documentation endpoints. */
export function decisionPointReference(): readonly Endpoint<string, never>[] {
	const table = createDecisionPoint({
		replica: unused(),
		apiKey: 'permit_key_unused',
		log: createLogger('silent'),
		consume: unused(),
	}).endpoints;
	return decisionPointDocumentation(table, '1.2.3', 'http://127.0.0.1:8000');
}

/** Returns a placeholder for dependencies used only by handlers. Reading any member throws. */
function unused<T>(): T {
	const refuse = (name: string | symbol): never => {
		throw new Error(`building a document must not use ${String(name)}`);
	};
	return new Proxy({}, { get: (_, name) => refuse(name) }) as T;
}

async function answeredDocument(own: readonly Endpoint<string, never>[]): Promise<Tree> {
	const served = own.find(({ name }) => name === 'getOpenApiDocument');
	// This handler uses neither its request nor its context.
	const answer = await served?.handle(unused(), unused<never>());
	if (!(answer instanceof Raw)) throw new Error('the document must be sent as raw bytes');
	return JSON.parse(String(answer.bytes));
}
